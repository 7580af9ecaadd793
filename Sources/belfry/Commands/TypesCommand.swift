import BelfryModel

extension Command {
  static let types = Command(
    name: "types", summary: "list the types of notifications and who receives each",
    detail: "Known without a broker: they are part of the program.",
    options: [.flag("json", "print one JSON value a line")],
    examples: [Example("types", "a table"), Example("types --json", "a row a line, for a program")],
    run: { invocation in
      let types = Catalogue.all.sorted { $0.code < $1.code }
      if invocation.printsJSON {
        invocation.console.print(try types.map { try JSONLine.text($0.info) })
        return
      }
      let rows = types.map { ["\($0.code)", $0.name, $0.scene.rawValue, $0.receivers] }
      invocation.console.print(TextTable.aligned([["CODE", "NAME", "IN", "RECEIVERS"]] + rows))
    })
}
