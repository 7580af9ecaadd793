import BelfrySystem
import Foundation
import Testing

@testable import BelfryClient

@Suite struct FeedStateMachineTests {
  private let lost = BelfryError(.transport, "gone")

  private func machine(cursor: String? = nil) -> FeedStateMachine {
    FeedStateMachine(cursor: cursor, backoff: Backoff(.seconds(1), atMost: .seconds(8), jitter: .full))
  }

  private func connected(cursor: String? = nil) -> FeedStateMachine {
    var machine = machine(cursor: cursor)
    #expect(machine.next() == .connect(after: cursor?.isEmpty == true ? nil : cursor))
    machine.connected()
    #expect(machine.next() == .handOut(.connected))
    return machine
  }

  private func event(_ id: Int) -> Data {
    Data("event: notification\nid: c\(id)\ndata: \(Wire.notification(id))\n\n".utf8)
  }

  private func handedOut(_ action: FeedStateMachine.Action) throws -> FeedEvent {
    guard case .handOut(let event) = action else { throw Unexpected(action: "\(action)") }
    return event
  }
  private struct Unexpected: Error { var action: String }

  @Test func `the cursor moves when an event is handed out, not when it arrives`() throws {
    var machine = connected(cursor: "c0")
    machine.received(event(1) + event(2), random: 0)
    #expect(machine.cursor == "c0")
    #expect(try handedOut(machine.next()) == .notification(try Wire.decoded(1), cursor: "c1"))
    #expect(machine.cursor == "c1")
  }

  @Test
  func `what is not kept has the cursor of what came before it, on another connection, or an empty one`()
    throws
  {
    let unkept = Data("event: notification\ndata: \(Wire.notification(3))\n\n".utf8)
    for cursor in ["c0", nil, ""] {
      var machine = connected(cursor: cursor)
      machine.received(unkept + event(4), random: 0)
      #expect(
        try handedOut(machine.next()) == .notification(try Wire.decoded(3), cursor: cursor ?? ""))
      #expect(try handedOut(machine.next()) == .notification(try Wire.decoded(4), cursor: "c4"))
    }
  }

  @Test func `what arrived is handed out before connecting again, and the new connection begins behind it`()
    throws
  {
    var machine = connected()
    machine.received(event(1) + event(2), random: 0)
    machine.ended(.failed(lost), random: 0.5)
    #expect(try handedOut(machine.next()) == .notification(try Wire.decoded(1), cursor: "c1"))
    #expect(try handedOut(machine.next()) == .notification(try Wire.decoded(2), cursor: "c2"))
    #expect(try handedOut(machine.next()) == .disconnected(because: lost, pause: .seconds(0.5)))
    #expect(machine.next() == .pause(.seconds(0.5)))
    machine.paused()
    #expect(machine.next() == .connect(after: "c2"))
  }

  @Test func `half an event does not survive its connection`() throws {
    var machine = connected()
    machine.received(event(1).dropLast(5), random: 0)
    machine.ended(.failed(lost), random: 0)
    #expect(try handedOut(machine.next()) == .disconnected(because: lost, pause: .zero))
    #expect(machine.next() == .connect(after: nil))
    machine.connected()
    machine.received(event(1), random: 0)
    #expect(try handedOut(machine.next()) == .notification(try Wire.decoded(1), cursor: "c1"))
    #expect(try handedOut(machine.next()) == .connected)
    #expect(machine.next() == .read)
  }

  @Test func `an id without data moves the cursor silently`() {
    var machine = connected(cursor: "c0")
    machine.received(Data("id: c9\n\n".utf8), random: 0)
    #expect(machine.next() == .read)
    #expect(machine.cursor == "c9")
  }

  @Test func `a kick that invites back is handed out, then waits as asked`() throws {
    var machine = connected(cursor: "c0")
    machine.received(
      Data("retry: 2000\n\nevent: kicked\ndata: {\"reason\":\"draining\",\"retry\":true}\n\n".utf8), random: 0
    )
    #expect(try handedOut(machine.next()) == .kicked(reason: "draining", retry: true))
    #expect(machine.next() == .pause(.seconds(2)))
    machine.paused()
    #expect(machine.next() == .connect(after: "c0"))
  }

  @Test func `a kick for good is the last event`() throws {
    var machine = connected()
    machine.received(
      Data(
        "event: kicked\ndata: {\"reason\":\"replaced\",\"byDevice\":\"phone\",\"retry\":false}\n\n".utf8),
      random: 0)
    #expect(
      try handedOut(machine.next()) == .kicked(reason: "replaced", retry: false, byDevice: "phone"))
    #expect(machine.next() == .end(nil))
    #expect(machine.next() == .end(nil))
  }

  @Test func `another token is asked for once one has expired`() throws {
    var machine = connected(cursor: "c0")
    machine.received(
      Data("event: kicked\ndata: {\"reason\":\"tokenExpired\",\"retry\":false}\n\n".utf8), random: 0)
    #expect(try handedOut(machine.next()) == .kicked(reason: "tokenExpired", retry: false))
    #expect(machine.next() == .connect(after: "c0"))
  }

  @Test func `a refusal that no waiting cures is told once`() {
    var machine = machine()
    let refusal = BelfryError(.unauthorized, "who are you", status: 401)
    machine.ended(.failed(refusal), random: 0)
    #expect(machine.next() == .end(refusal))
    #expect(machine.next() == .end(nil))
  }

  @Test func `an event without end ends the feed rather than asking for it for ever`() {
    var machine = connected()
    machine.received(Data(repeating: UInt8(ascii: "x"), count: ClientLimits.eventBytes + 1), random: 0)
    guard case .end(let error) = machine.next() else {
      Issue.record("went on")
      return
    }
    #expect(error?.code == .protocol)
  }

  @Test func `reads every kind of event, and hands on what it cannot read`() {
    func read(_ event: String, _ data: String) -> FeedEvent { FeedEvent(event: event, data: data, id: "c") }
    #expect(read("read", #"{"messageServerIds":["4","5"]}"#) == .read(.ids([Wire.id(4), Wire.id(5)])))
    #expect(read("read", #"{"upTo":"9"}"#) == .read(.upTo(Wire.id(9))))
    #expect(read("gap", #"{"from":"1","to":"8"}"#) == .gap(from: Wire.id(1), to: Wire.id(8)))
    #expect(read("device", #"{"op":"join"}"#) == .device(["op": "join"]))
    for (event, data) in [
      ("notification", "{"), ("read", "[]"), ("tomorrow", "{}"), ("gap", #"{"from":"-1"}"#),
    ] {
      #expect(read(event, data) == .other(event: event, data: data))
    }
  }
}
