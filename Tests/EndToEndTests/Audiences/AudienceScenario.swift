import BelfryModel
import Foundation
import Testing

/// Plays acts against a broker and watches every device of the whole cast.
///
/// All streams stay open throughout. Before and after an act everybody is sent a mark; what a device
/// receives between the two is what it heard of the act.
final class AudienceScenario {
  private let stage: Stage
  private let broker: Broker
  private let app: Person
  private(set) var people: [String: Person] = [:]
  private var streams: [(account: String, device: String, stream: EventStream)] = []
  /// What the names in braces stand for in the act that is played.
  private var names: [String: String] = [:]
  private var marks = 0

  /// - Parameter watches: false where nobody needs to hear anything.
  init(_ stage: Stage, at broker: Broker, watches: Bool = true) throws {
    self.stage = stage
    self.broker = broker
    app = try Person.app(at: broker)
    for (account, devices) in stage.cast {
      people[account] = try Person(account, device: devices[0], at: broker)
      for device in devices where watches {
        let stream = try Person(account, device: device, at: broker).stream()
        streams.append((account, device, stream))
      }
    }
  }

  func close() { for (_, _, stream) in streams { stream.cut() } }

  // MARK: Playing

  func play(_ act: Act, _ heard: [Heard]) throws {
    try prepare(act)
    let starts = try mark()
    try say(act.line)
    let expected = expectation(heard)
    for (index, (account, device, stream)) in streams.enumerated() {
      let wanted = expected[account] ?? []
      let arrived = stream.wait { events in
        self.types(in: events, after: starts[index]).count >= wanted.count
      }
      #expect(arrived, "\(act.testDescription): \(account) on \(device) misses some of \(wanted)")
    }
    let ends = try mark()
    for (index, (account, device, stream)) in streams.enumerated() {
      let heard = types(in: stream.all, after: starts[index], before: ends[index])
      #expect(
        heard == expected[account] ?? [], "\(act.testDescription): what \(account) hears on \(device)")
      checkAttachments(stream, starts[index], ends[index])
    }
    try explain(act, starts, ends)
  }

  func prepare(_ act: Act) throws {
    names = [:]
    for line in stage.setUp + act.before { try say(line) }
  }

  /// On a machine that does much else Redis may leave a broker without an answer for a while: who is told to try again
  /// does.
  func ask(_ person: Person, _ line: Line) throws -> Answer {
    for _ in 0..<20 {
      let answer = try person.call(line.method, fill(line.path), json: line.body.map { fill($0) })
      guard answer.status == 503 else { return answer }
      Thread.sleep(forTimeInterval: 0.2)
    }
    return try person.call(line.method, fill(line.path), json: line.body.map { fill($0) })
  }

  @discardableResult
  private func say(_ line: Line) throws -> Answer {
    let speaker = line.by == "app" ? app : try #require(people[line.by])
    let answer = try ask(speaker, line)
    try #require(
      (200...299).contains(answer.status), "\(line.by) \(line.method) \(fill(line.path)): \(answer)")
    if let name = line.name {
      // What is made inside a space is answered with the space's id beside its own: the inmost first.
      let ids = ["code", "fileId", "channelId", "serverId", "groupId", "roomId"].compactMap { answer[$0] }
      names[name] = ids.first
    }
    return answer
  }

  private func expectation(_ heard: [Heard]) -> [String: [Int]] {
    var expected: [String: [Int]] = [:]
    for notification in heard {
      for account in notification.accounts { expected[account, default: []].append(notification.type) }
    }
    return expected.mapValues { $0.sorted() }
  }

  /// Everybody is sent a mark, and has it. Gives how many events each stream had before it.
  private func mark() throws -> [Int] {
    marks += 1
    let text = "mark \(marks)"
    try app.mustSend(text, ["toAccids": people.keys.sorted()])
    return try streams.map { account, device, stream in
      try #require(stream.wait(forBody: text), "\(account) on \(device) is not reached")
      return stream.all.firstIndex { $0.body == text } ?? 0
    }
  }

  private func notifications(
    _ events: [EventStream.Event], _ start: Int, _ end: Int
  ) -> [EventStream.Event] {
    events[start..<min(end, events.count)].filter {
      $0.name == "notification" && $0.body?.hasPrefix("mark ") != true
    }
  }

  private func types(in events: [EventStream.Event], after start: Int, before end: Int = .max) -> [Int] {
    notifications(events, start, end).compactMap(\.type).sorted()
  }

  /// The details are those that the catalogue names for the type.
  private func checkAttachments(_ stream: EventStream, _ start: Int, _ end: Int) {
    for event in notifications(stream.all, start, end) {
      guard let type = event.type.flatMap({ Catalogue.type($0) }), type.code != Catalogue.custom.code else {
        continue
      }
      let fields = (event.object["attach"] as? [String: Any])?.keys.sorted() ?? []
      #expect(fields == type.attach.sorted(), "the details of \(type.code)")
    }
  }

  // MARK: Asking why

  /// `explain` says of every notification of the act, for everybody, what their devices saw.
  private func explain(_ act: Act, _ starts: [Int], _ ends: [Int]) throws {
    var receivers: [String: Set<String>] = [:]
    for (index, (account, _, stream)) in streams.enumerated() {
      for event in notifications(stream.all, starts[index], ends[index]) {
        if let id = event.messageServerId { receivers[id, default: []].insert(account) }
      }
    }
    for (id, accounts) in receivers {
      for account in stage.cast.keys {
        let answer = try app.call("GET", "/v1/notifications/\(id)/explain?account=\(account)")
        #expect(
          answer.object["visible"] as? Bool == accounts.contains(account),
          "\(act.testDescription): why \(account) sees \(id) or not: \(answer)")
      }
    }
  }

  // MARK: Names

  private func fill(_ value: JSONValue) -> JSONValue {
    switch value {
    case .string(let text): .string(fill(text))
    case .array(let values): .array(values.map(fill))
    case .object(let members): .object(members.mapValues(fill))
    default: value
    }
  }

  private func fill(_ text: String) -> String {
    var filled = text
    for (name, id) in names { filled = filled.replacingOccurrences(of: "{\(name)}", with: id) }
    // {invitation:zoe}: the id of zoe's invitation.
    for match in filled.matches(of: /\{([a-zA-Z]+):([a-z]+)(?:@([a-z]+))?\}/) {
      let channel = match.3.flatMap { names[String($0)] }
      filled = filled.replacingOccurrences(
        of: String(match.0), with: requestID(String(match.1), String(match.2), channel: channel))
    }
    return filled
  }

  private func requestID(_ kind: String, _ account: String, channel: String?) -> String {
    Self.requestID(
      kind, account, server: names["server"], group: names["group"], room: names["room"], channel: channel)
  }

  /// The id that an invitation or application has, so that nobody has to look for it.
  static func requestID(
    _ kind: String, _ account: String, server: String? = nil, group: String? = nil, room: String? = nil,
    channel: String? = nil
  ) -> String {
    let space =
      server.flatMap { EntityID($0) }.map { SpaceID.server($0) }
      ?? group.flatMap { EntityID($0) }.map { SpaceID.group($0) }
      ?? room.flatMap { EntityID($0) }.map { SpaceID.room($0) }
    guard let space, let kind = RequestRecord.Kind(rawValue: kind), let account = AccountID(account) else {
      return "none"
    }
    return RequestID(kind, of: account, in: space, channel: channel.flatMap { EntityID($0) }).text
  }
}

extension Person {
  @discardableResult
  func call(_ method: String, _ path: String, json: JSONValue?) throws -> Answer {
    guard let json else { return try call(method, path) }
    let data = Data(RecordJSON.text(json).utf8)
    return try call(method, path, try JSONSerialization.jsonObject(with: data) as? [String: Any])
  }
}
