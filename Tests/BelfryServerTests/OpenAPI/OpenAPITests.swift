import BelfryModel
import ModelSamples
import Testing

@testable import BelfryInterface
@testable import BelfryServer

/// The document describes the routes as they are.
@Suite struct OpenAPITests {
  static let document = OpenAPIDocument.value
  private static let schemas = JSONSchema(root: document)

  private static func operation(_ route: Route) -> JSONValue? {
    document["paths"]?[route.path.description]?[route.verb.rawValue.lowercased()]
  }

  private static func bodySchema(_ route: Route) -> JSONValue? {
    let schema = operation(route)?["requestBody"]?["content"]?["application/json"]?["schema"]
    return schema.flatMap { schemas.resolved($0) }
  }

  /// A body that the route accepts: the example, if its fields exclude one another.
  private static func goodBody(_ route: Route, _ schema: JSONValue) -> JSONValue {
    guard let shape = route.body.shape, shape.rule != .none else { return schemas.sample(schema) }
    return shape.example()
  }

  @Test func theFileIsWhatIsServed() throws {
    let file = try ProjectFile.read("docs/openapi.json")
    #expect(
      file == PrettyJSON.text(of: Self.document),
      "the interface has changed: swift run belfry openapi > docs/openapi.json, and look at what changes")
  }

  @Test func everyRouteAndNoOther() throws {
    guard case .object(let paths)? = Self.document["paths"] else { throw TestFailure("there are no paths") }
    var described: Set<String> = []
    for (path, operations) in paths {
      guard case .object(let operations) = operations else { throw TestFailure("\(path) has no operations") }
      described.formUnion(operations.keys.map { "\($0.uppercased()) \(path)" })
    }
    #expect(described == Set(Routes.all.map { "\($0.verb.rawValue) \($0.path)" }))
  }

  @Test func everyOperationHasANameOfItsOwn() {
    let names = Routes.all.map(\.operationID)
    for (name, routes) in Dictionary(grouping: Routes.all, by: \.operationID) where routes.count > 1 {
      Issue.record("\(name) is \(routes.map { "\($0.verb.rawValue) \($0.path)" })")
    }
    #expect(names.allSatisfy { $0.wholeMatch(of: /[a-z][a-zA-Z]+/) != nil })
  }

  @Test func everyReferenceLeadsSomewhere() {
    func check(_ value: JSONValue) {
      switch value {
      case .array(let elements): elements.forEach(check)
      case .object(let members):
        if let reference = members["$ref"]?.text {
          let place = reference.split(separator: "/").dropFirst()
          #expect(place.reduce(JSONValue?.some(Self.document)) { $0?[String($1)] } != nil, "\(reference)")
        }
        members.values.forEach(check)
      default: break
      }
    }
    check(Self.document)
  }

  @Test func everyParameterOfAPathIsDeclared() {
    for route in Routes.all {
      #expect(route.pathProperties.map(\.name) == route.path.parameters, "\(route.verb) \(route.path)")
      let names =
        route.pathProperties.map(\.name) + route.queryProperties.map(\.name)
        + (route.body.shape?.properties ?? []).map(\.name)
      #expect(Set(names).count == names.count, "\(route.verb) \(route.path) has a name in two places")
    }
  }

  @Test(arguments: Routes.all.filter { $0.body.shape != nil })
  func aBodyOfTheSchemaIsTakenAndAnUnknownFieldIsNot(route: Route) throws {
    let schema = try #require(Self.bodySchema(route))
    let sample = Self.goodBody(route, schema)
    #expect(Self.schemas.problems(sample, schema) == [])
    #expect(refusal(of: sample, by: route) == nil, "\(sample)")
    let strange = sample.with(["stranger": 1])
    #expect(!Self.schemas.problems(strange, schema).isEmpty)
    #expect(refusal(of: strange, by: route)?.field == "stranger")
    if let example = route.body.shape?.example() {
      #expect(Self.schemas.problems(example, schema) == [])
    }
  }

  private static let strangeValues: [JSONValue] = [
    .null, true, 0, 1, -1, 100, 9_999, 20_000, .integer(.max), .number(1.5), "", "x", "1", "007", "-1", "a b",
    "9223372036854775807", "9223372036854775808", .string(String(repeating: "x", count: 65)),
    .string(String(repeating: "x", count: 5_000)), [], [1], ["x"], ["1"], ["a b"], [[:]], [:], ["x": "y"],
    ["x": 1],
    .array((0..<600).map { .string("a\($0)") }), .array((0..<1_100).map { .string("a\($0)") }),
    ["messageServerId": "1"], [["messageServerId": "1"]], [["serverId": "1", "channelId": 2]],
  ]

  /// The schema and the reader accept the same values: field by field, for every kind of value that could be
  /// sent.
  @Test(arguments: Routes.all.filter { $0.body.shape != nil })
  func theSchemaAndTheReaderAgree(route: Route) throws {
    let schema = try #require(Self.bodySchema(route))
    guard case .object(let sample) = Self.goodBody(route, schema),
      case .object(let properties)? = schema["properties"]
    else { throw TestFailure("the body is no object") }
    for name in properties.keys.sorted() {
      for value in Self.strangeValues {
        var body = sample
        body[name] = value
        let problems = Self.schemas.problems(.object(body), schema)
        let refused = refusal(of: .object(body), by: route)
        // The schema says only in words which fields go together.
        let isOfRule = refused.map { Self.tellsRule($0.detail) } ?? false
        if route.body.shape?.rule != FieldRule.none, isOfRule { continue }
        #expect(
          problems.isEmpty == (refused == nil),
          "\(name): \(String("\(value)".prefix(80))): \(problems.prefix(3)); read: \(refused?.detail ?? "taken")"
        )
      }
    }
  }

  private static func tellsRule(_ detail: String) -> Bool {
    detail.hasPrefix("is missing: give") || detail.hasPrefix("cannot be combined")
  }

  /// Each body and each refusal has one type. Generators of clients need that.
  @Test func everyBodyAndAnswerHasAName() {
    for route in Routes.all {
      let operation = Self.operation(route)
      if let body = operation?["requestBody"]?["content"]?["application/json"]?["schema"] {
        #expect(body["$ref"] != nil, "\(route.name) has a body without a name")
        let schema = Self.bodySchema(route)
        #expect(["anyOf", "oneOf", "allOf"].allSatisfy { schema?[$0] == nil }, "\(route.name)")
      }
      for outcome in route.outcomes {
        let answer = operation?["responses"]?["\(outcome.status)"]?["content"]?["application/json"]?["schema"]
        #expect(answer == nil || answer?["$ref"] != nil, "\(route.name) has an answer without a name")
      }
    }
    #expect(OpenAPIDocument.ambiguousNames == [])
  }

  @Test func theStreamsEventsHaveSchemas() {
    let stream = Self.operation(NotificationRoutes.stream.route)?["responses"]?["200"]?["content"]
    guard case .object(let events)? = stream?["text/event-stream"]?["x-events"] else {
      Issue.record("the stream has no events")
      return
    }
    #expect(
      Set(events.keys) == [
        "notification", "updated", "retracted", "preferences", "read", "counts", "gap", "device", "kicked",
      ])
  }

  /// The refusal of the body by the route; nil if the route accepts it.
  private func refusal(of body: JSONValue, by route: Route) -> Refusal? {
    do throws(Refusal) {
      let bytes = JSONText.bytes(of: body)
      guard route.body.isReadByHandler else {
        var parts = RequestParts(path: route.examplePath, query: route.exampleQuery, body: bytes)
        _ = try Handlers.all.first { $0.route === route }?.prepare(&parts)
        return nil
      }
      // Sends are read by hand.
      let isResend = route === NotificationRoutes.resend.route
      let sent = try SendRequest(ObjectFields(of: bytes), isResend: isResend)
      try sent.content.checkLimits()
      if isResend { try sent.requireName() }
      return nil
    } catch {
      return error
    }
  }

  /// The reader of sends knows no field that its schema does not have, as far as notifications have fields.
  @Test func sendsHaveNoFieldsBeside() throws {
    let declared = Set(SendShapes.body.properties.map(\.name))
    let all = Set(NotificationContent.CodingKeys.allCases.map(\.rawValue))
    // Only a callback gives this field.
    #expect(declared == all.subtracting(["callbackExt"]))
    #expect(
      Set(NotificationSetting.properties.map(\.name))
        == Set(NotificationSetting.CodingKeys.allCases.map(\.rawValue)))
  }

  @Test func itIsOpenToEverybody() async throws {
    try await withBroker { broker in
      let answer = try broker.ask("GET", "/openapi.json")
      #expect(answer.status == 200)
      #expect(answer.headers["content-type"] == "application/json")
      #expect(answer.json == Self.document)
    }
  }

  @Test func idsArePatternsOfWhatIsRead() throws {
    let regex = try Regex(DecimalPattern.upToInt64Max(from: 1))
    for text in [
      "1", "9", "10", "999999999999999999", "1000000000000000000", "9223372036854775807",
      "9223372036854775799",
    ] {
      #expect(text.contains(regex) && EntityID(text) != nil, "\(text)")
    }
    for text in [
      "0", "01", "", "-1", "9223372036854775808", "9300000000000000000", "10000000000000000000", "1 ",
    ] {
      #expect(!text.contains(regex) && EntityID(text) == nil, "\(text)")
    }
  }
}
