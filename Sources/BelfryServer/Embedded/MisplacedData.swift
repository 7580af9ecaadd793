/// Finds files in a data folder that look like the data of a Redis, but that the embedded Redis does not
/// read. The broker would start with an empty Redis, and nobody would learn why.
enum MisplacedData {
  static func check(_ folder: String) throws(StartError) {
    let misplaced = folder + "/appendonlydir"
    let place = folder + "/redis/appendonlydir"
    if Folder.exists(misplaced) {
      let remedy =
        Folder.exists(place)
        ? "which has data too: keep the right one there, and move the other elsewhere"
        : "which is not there: move this folder there, or elsewhere if you do not need it"
      throw StartError(.dataFolderUnusable, "Redis reads only \(place), \(remedy)", at: misplaced)
    }
    let draft = folder + "/" + Restore.draftName
    if Folder.exists(draft) {
      throw StartError(
        .dataFolderUnusable,
        "a belfry restore did not finish: run it again, or remove this folder, which it made", at: draft)
    }
  }
}
