package import BelfryInterface
package import BelfryModel
import FoundationEssentials

extension BelfryClient {
  /// Any request of the broker's interface, for the command line, whose commands are made from its rows.
  ///
  /// - Parameter path: what the row's path names, in its order.
  /// - Returns: the answer; nil when there is nothing to say.
  package func perform(
    _ route: Route, _ path: [String] = [], query: [(name: String, value: String)] = [], body: JSONValue? = nil
  ) async throws(BelfryError) -> JSONValue? {
    var request = HTTPRequest(route, path)
    request.query = query
    if let body { request.body = try Self.encode(body) }
    let answer = try await answer(request)
    return answer.isEmpty ? nil : try Self.decode(JSONValue.self, answer)
  }
}
