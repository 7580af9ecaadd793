package import BelfryModel
import FoundationEssentials

extension BelfryClient {
  /// Any request of the broker's interface, for the command line, whose commands come from the broker's own
  /// table of routes.
  ///
  /// - Parameter path: below the base URL, with nothing in it that needs an escape.
  /// - Returns: the answer; nil when there is nothing to say.
  package func perform(
    _ method: String, _ path: String, query: [(name: String, value: String)] = [], body: JSONValue? = nil
  ) async throws(BelfryError) -> JSONValue? {
    guard let method = HTTPRequest.Method(rawValue: method) else {
      throw BelfryError(.protocol, "there is no method \(method)")
    }
    var request = HTTPRequest(method, path)
    request.query = query
    if let body { request.body = try Self.encode(body) }
    let answer = try await answer(request)
    return answer.isEmpty ? nil : try Self.decode(JSONValue.self, answer)
  }
}
