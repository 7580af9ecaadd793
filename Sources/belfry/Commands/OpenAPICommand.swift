import BelfryInterface

extension Command {
  static let openAPI = Command(
    name: "openapi", summary: "print the description of the HTTP interface (OpenAPI 3.1)",
    detail:
      "The same document as a broker's GET /openapi.json. Known without a broker: it is part of the program.",
    examples: [Example("openapi", "the document, to read or to keep in a file")],
    run: { invocation in
      let text = PrettyJSON.text(of: OpenAPIDocument.value)
      invocation.console.print(text.split(separator: "\n").map(String.init))
    })
}
