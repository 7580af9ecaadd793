import BelfryBytes
import BelfryModel
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// Checks that every answer that a test receives follows the document: its status, its type, its schema, and
/// for a refusal the code.
enum Conformance {
  private static let router = Router()
  private static let answers = JSONSchema(root: OpenAPIDocument.value, isClosed: true)
  /// The statuses that any request may get.
  private static let always: Set = [405, 408, 413, 414, 421, 431, 501]

  static func check(_ method: String, _ path: String, _ answer: Answer) {
    // Except for documents, an answer is for one account and one moment. No browser may guess another content
    // type.
    let caching = answer.headers["etag"] == nil ? "no-store" : "no-cache"
    #expect(answer.headers["cache-control"] == caching, "\(method) \(path) \(answer.status)")
    #expect(answer.headers["x-content-type-options"] == "nosniff", "\(method) \(path) \(answer.status)")
    let segments = path.prefix { $0 != "?" }.dropFirst()
      .split(separator: "/", omittingEmptySubsequences: false).map { UTF8Text($0) }
    guard method != "HEAD", !always.contains(answer.status),
      let match = try? router.match(method: UTF8Text(method), path: segments)
    else { return }
    let place = "\(method) \(match.route.path) \(answer.status)"
    let operation = OpenAPIDocument.value["paths"]?[match.route.path.description]?[method.lowercased()]
    guard let response = operation?["responses"]?["\(answer.status)"] else {
      Issue.record("\(place) is not in the document: \(answer.body)")
      return
    }
    check(answer, resolved(response), place)
    if answer.status >= 400, let code = answer.json["code"]?.text {
      let isListed = match.route.problems.contains { $0.status == answer.status && $0.code == code }
      #expect(isListed, "\(place) \(code) is not in the document")
    }
  }

  private static func check(_ answer: Answer, _ response: JSONValue, _ place: String) {
    guard case .object(let contents)? = response["content"] else {
      #expect(answer.body.isEmpty, "\(place) has content that the document does not say")
      return
    }
    let type = answer.headers["content-type"] ?? "none"
    guard let schema = contents[type]?["schema"] else {
      Issue.record("\(place) is \(type), not \(contents.keys.sorted())")
      return
    }
    guard type.hasSuffix("json"), type != "application/x-ndjson" else { return }
    let problems = answers.problems(answer.json, schema)
    #expect(problems.isEmpty, "\(place): \(problems): \(answer.body.prefix(500))")
  }

  private static func resolved(_ response: JSONValue) -> JSONValue {
    guard let reference = response["$ref"]?.text else { return response }
    return reference.split(separator: "/").dropFirst()
      .reduce(JSONValue?.some(OpenAPIDocument.value)) { $0?[String($1)] } ?? .null
  }
}
