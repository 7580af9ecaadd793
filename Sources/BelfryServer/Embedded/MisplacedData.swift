/// Finds files in a data folder that look like the data of a Redis, but that the embedded Redis does not
/// read. The broker would start with an empty Redis, and nobody would learn why.
enum MisplacedData {
  static func check(_ folder: String) throws(StartError) {
    let misplaced = folder + "/appendonlydir"
    let place = folder + "/redis/appendonlydir"
    if Folder.exists(misplaced) {
      let remedy =
        Folder.exists(place)
        ? "which has data, too. Decide which of the two folders has the right data, put that one there, and move the other elsewhere"
        : "which does not exist. If this folder has the broker's data, move it there; if not, move it elsewhere"
      throw StartError(.dataFolderUnusable, "Redis reads only \(place), \(remedy)", at: misplaced)
    }
    let draft = folder + "/" + Restore.draftName
    if Folder.exists(draft) {
      throw StartError(
        .dataFolderUnusable,
        "a belfry restore did not finish. Run it again, or remove this folder, which it made", at: draft)
    }
  }
}
