/// Finds files in a data folder that look like the data of a Redis, but that the embedded Redis does not
/// read. The broker would start with an empty Redis, and nobody would learn why.
enum MisplacedData {
  static func check(_ folder: String) throws(StartError) {
    let misplaced = folder + "/appendonlydir"
    let place = folder + "/redis/appendonlydir"
    if Folder.exists(misplaced) {
      let remedy =
        Folder.exists(place)
        ? "there is data in \(place) as well: keep one of the two there, and move the other elsewhere"
        : "move it to \(place), or elsewhere if you do not need it"
      throw StartError(.dataFolderUnusable, "Redis does not read it here: \(remedy)", at: misplaced)
    }
    let draft = folder + "/" + Restore.draftName
    if Folder.exists(draft) {
      throw StartError(
        .dataFolderUnusable,
        "a belfry restore did not finish: run it again, or remove this folder, which it made", at: draft)
    }
  }
}
