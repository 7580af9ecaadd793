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
      var table = TextTable(["CODE", "NAME", "IN", "RECEIVERS"])
      for type in types { table.add(["\(type.code)", type.name, type.scene.rawValue, type.receivers]) }
      invocation.console.print(table)
    })
}
