package import BelfryBytes
package import BelfryModel

/// The parts of a request, before they are read as the row declares them.
package struct RequestParts: Sendable {
  /// The values of the path, by the names in its pattern.
  var path: [UTF8Text: UTF8Text]
  var query: [(name: UTF8Text, value: UTF8Text)]
  /// The values of the row's own headers.
  var headers: [UTF8Text: UTF8Text]
  package let body: [UInt8]
  /// Fields of the body that follow from another part of the request.
  var preset: JSONObject
  /// How many accounts, servers and so on the lists of the body name. Known after the body was read.
  package private(set) var namedCount = 0

  package init(
    path: [UTF8Text: UTF8Text] = [:], query: [(name: UTF8Text, value: UTF8Text)] = [],
    headers: [UTF8Text: UTF8Text] = [:], body: [UInt8] = [], preset: JSONObject = [:]
  ) {
    self.path = path
    self.query = query
    self.headers = headers
    self.body = body
    self.preset = preset
  }

  /// - Throws: `invalidField` if there is a body that is not empty.
  package func requireNoBody() throws(Refusal) {
    guard !body.isEmpty, try JSONParser.value(of: body) != [:] else { return }
    throw .invalid("$", "this request takes no body; leave it out, or send an empty object")
  }

  /// The body as JSON.
  mutating func value(of form: RouteBody) throws(Refusal) -> JSONValue {
    if body.isEmpty {
      if form.mayBeLeftOut { return [:] }
      throw .emptyBody
    }
    let value = try JSONParser.value(of: body)
    guard case .object(let fields) = value else { return value }
    for case (_, .array(let named)) in fields { namedCount += named.count }
    return preset.isEmpty ? value : .object(try completed(fields))
  }

  private func completed(_ fields: JSONObject) throws(Refusal) -> JSONObject {
    var fields = fields
    for (name, value) in preset {
      guard fields[name] == nil else {
        throw .invalid(name, "is implied by the frame's operation; leave it out")
      }
      fields[name] = value
    }
    return fields
  }
}

extension Refusal {
  static let emptyBody = Refusal.invalid("$", "is empty: this request needs a JSON object as its body")
}
