package import BelfryInterface
package import BelfryModel
import FoundationEssentials

extension BelfryClient {
  /// Performs any request of the broker's interface. The command line uses it: its commands are made from the routes.
  ///
  /// - Parameter path: the values for the placeholders of the route's path, in their order.
  /// - Returns: the answer. Nil if it has no body.
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
