/// Finds files in a data folder that look like the data of a Redis, but that the embedded Redis does not
/// read. The broker would start with an empty Redis, and nobody would learn why.
enum MisplacedData {
  static func check(_ folder: String) throws(StartError) {
    let misplaced = folder + "/appendonlydir"
    let place = folder + "/redis/appendonlydir"
    if Folder.exists(misplaced) {
      let remedy =
        Folder.exists(place)
        ? "and both folders have data. Decide which data is right. Move the wrong folder elsewhere; the right one must be at \(place)"
        : "which does not exist. If this folder has the broker's data, move it there; if not, move it elsewhere"
      throw StartError(.dataFolderUnusable, "Redis reads only \(place), \(remedy)", at: misplaced)
    }
    let draft = folder + "/" + Restore.draftName
    // If the restored data is in its place already, the command was killed at its very end.
    let isInPlace = Folder.exists(place) && !Folder.exists(draft + "/redis")
    if Folder.exists(draft), !isInPlace {
      throw StartError(
        .dataFolderUnusable,
        "a belfry restore did not finish. Run it again, or remove this folder, which it made", at: draft)
    }
  }
}
