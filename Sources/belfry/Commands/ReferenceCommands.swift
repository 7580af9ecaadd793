import BelfryInterface
import BelfryModel

// Commands that work without a broker.

extension Command {
  static let version = Command(
    name: "version", summary: "print the version of Belfry",
    options: [.flag("json", "print one JSON value")],
    examples: [Example("version", "the same as belfry --version")],
    run: { invocation in
      try invocation.print(["version": BelfryVersion.text], ["belfry \(BelfryVersion.text)"])
    })

  static let types = Command(
    name: "types", summary: "list the types of notifications and who receives each",
    detail: """
      This needs no broker: the types are part of the program. A server is large if it has more members than the broker's \
      setting limits.subscriptionThreshold, which is 2,000 by default.
      """,
    operands: [Operand(name: "CODE", meaning: "show only this type, with its fields", isRequired: false)],
    options: [.flag("json", "print one JSON value per line")],
    examples: [
      Example("types", "a table"), Example("types 301", "one of them, with its fields"),
      Example("types --json", "one row per line, for a program"),
    ],
    run: { invocation in
      if let word = invocation.arguments.operands.first { return try invocation.showType(word) }
      let types = Catalogue.all.sorted { $0.code < $1.code }
      if invocation.printsJSON {
        invocation.console.print(try types.map { try JSONLine.text($0.info) })
        return
      }
      var table = TextTable(["CODE", "NAME", "IN", "RECEIVERS"], narrowing: .breaking)
      for type in types { table.add(["\(type.code)", type.name, type.scenes, type.receivers]) }
      invocation.console.print(table)
    })

  static let openAPI = Command(
    name: "openapi", summary: "print the description of the HTTP interface (OpenAPI 3.1)",
    detail:
      "The same document as a broker's GET /openapi.json. This needs no broker: the document is part of the program.",
    examples: [Example("openapi", "the document, to read or to keep in a file")],
    run: { invocation in
      let text = PrettyJSON.text(of: OpenAPIDocument.value)
      invocation.console.print(text.split(separator: "\n").map(String.init))
    })
}

extension Invocation {
  /// - Parameter word: the code or the name of a type.
  fileprivate func showType(_ word: String) throws {
    guard let type = Catalogue.all.first(where: { "\($0.code)" == word || $0.name == word }) else {
      throw UsageError("there is no type \(word)", suggestion: "belfry types lists them")
    }
    try print(
      type.info,
      TextTable.aligned([
        ["code", "\(type.code)"], ["name", type.name], ["in", type.scenes],
        ["attach", type.attach.isEmpty ? "-" : type.attach.joined(separator: ", ")],
        ["receivers", type.receivers], ["updated by", type.updaters.rawValue],
        ["critical for", type.critical.rawValue],
      ]))
  }
}
