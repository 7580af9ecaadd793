/// What in a data folder looks like a Redis's data and is not read by the embedded one: the broker would start
/// empty beside it, and nobody would be told why.
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
        "a belfry restore into this folder did not finish: run it again, or remove this", at: draft)
    }
  }
}
