import BelfryBytes
import TestKit
import Testing

@testable import BelfryHTTP

/// The bytes that requests make the broker hold, in total and for each account.
@Suite struct BudgetTests {
  @Test func eachAccountHasItsOwnAndAllHaveOne() {
    let shared = SharedBytes(limitBytes: 30_000, accountBytes: 20_000)
    var held: [HeldBytes] = []
    func hold(_ bytes: Int, _ account: UTF8Text?) -> SharedBytes.Shortage? {
      let one = HeldBytes(of: shared, for: account)
      held.append(one)
      return one.grow(to: bytes)
    }
    #expect(hold(12_000, "a") == nil)
    #expect(hold(9_000, "a") == .owner)
    #expect(hold(9_000, "b") == nil)
    #expect(hold(6_000, "c") == .all)
    #expect(hold(4_500, "c") == nil)
    #expect(hold(6_000, nil) == .all)
    #expect(shared.heldBytes == 25_500)
    #expect(shared.accountsHolding == 3)
    // Small numbers of bytes are not counted.
    #expect(hold(HeldBytes.uncountedBytes, "a") == nil)
    #expect(shared.heldBytes == 25_500)
    held = []
    #expect(shared.heldBytes == 0)
    #expect(shared.accountsHolding == 0)
  }

  /// Four users with half-sent batches leave room for a user's send, and for back ends.
  @Test func fewThatHoldMuchLeaveRoomForOthers() {
    let budgets = HTTPBudgets()
    var held: [HeldBytes] = []
    func hold(_ bytes: Int, _ account: UTF8Text?) -> SharedBytes.Shortage? {
      let one = HeldBytes(of: budgets.bodies, for: account)
      held.append(one)
      return one.grow(to: bytes)
    }
    for number in 0..<4 {
      // Each of them takes as much as it gets.
      for _ in 0..<64 { _ = hold(8 << 20, UTF8Text("attacker \(number)")) }
      for _ in 0..<64 { _ = hold(256 << 10, UTF8Text("attacker \(number)")) }
    }
    #expect(hold(256 << 10, "honest") == nil)
    // Users leave half of it free.
    for _ in 0..<4 { #expect(hold(8 << 20, nil) == nil) }
  }

  /// Results are always sent. So no more requests are carried out for an account that does not take them.
  @Test func whoTakesNoResultsIsExhausted() {
    let shared = SharedBytes(limitBytes: 30_000, accountBytes: 10_000)
    var held: [HeldBytes] = []
    for _ in 0..<8 {
      #expect(!shared.isExhausted(by: "a"))
      let one = HeldBytes(of: shared, for: "a")
      _ = one.grow(to: 5_000, isForced: true)
      held.append(one)
    }
    #expect(shared.isExhausted(by: "a"))
    #expect(!shared.isExhausted(by: "b"))
    held = []
    #expect(!shared.isExhausted(by: "a"))
  }

  private static let body = String(repeating: "x", count: 0x10000)

  /// Sends all of a body of 64 KiB except its last byte.
  private func begin(_ server: TestServer, account: String? = nil) throws -> RawConnection {
    let client = try RawConnection(port: server.port)
    let field = account.map { "Account: \($0)\r\n" } ?? ""
    client.send("POST /echo HTTP/1.1\r\nHost: t\r\n\(field)Content-Length: 65536\r\n\r\n")
    client.send(String(Self.body.dropLast()))
    return client
  }

  @Test func bodiesOfOneAccountAreBounded() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 10 << 20, accountBytes: 256 << 10))
    let server = try TestServer(budgets: budgets)
    let clients = try (0..<4).map { _ in try begin(server, account: "a") }
    #expect(server.eventually { budgets.bodies.heldBytes == 256 << 10 })
    let late = try begin(server, account: "a")
    late.send("x")
    #expect(try late.readResponse().status == 429)
    // Other clients do not notice, and neither do clients whose bodies are complete.
    let other = try begin(server, account: "b")
    other.send("x")
    #expect(try other.readResponse().status == 200)
    clients[0].send("x")
    #expect(try clients[0].readResponse().status == 200)
    #expect(server.eventually { budgets.bodies.heldBytes == 192 << 10 })
    // There is room again, and the connection was not lost.
    #expect(try late.get("/echo").status == 200)
    let again = try begin(server, account: "a")
    again.send("x")
    #expect(try again.readResponse().status == 200)
    for client in clients { client.close() }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 && budgets.bodies.accountsHolding == 0 })
  }

  @Test func bodiesOfAllAreBounded() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 256 << 10, accountBytes: 10 << 20))
    let server = try TestServer(budgets: budgets)
    let clients = try (0..<4).map { _ in try begin(server) }
    #expect(server.eventually { budgets.bodies.heldBytes == 256 << 10 })
    let late = try begin(server)
    late.send("x")
    #expect(try late.readResponse().status == 503)
    // Requests without a body, or with a small one, go on.
    #expect(try late.get("/echo").status == 200)
    late.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\n\r\nhello")
    #expect(try late.readResponse().status == 200)
    for client in clients { client.close() }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 })
  }

  /// A body without a length is counted too, by the bytes that it takes.
  @Test func chunkedBodiesAreBounded() throws {
    let budgets = HTTPBudgets(bodies: SharedBytes(limitBytes: 10 << 20, accountBytes: 256 << 10))
    let server = try TestServer(budgets: budgets)
    let chunk = "10000\r\n\(Self.body)\r\n"
    let clients = try (0..<8).map { _ in try RawConnection(port: server.port) }
    for client in clients {
      client.send("POST /echo HTTP/1.1\r\nHost: t\r\nAccount: a\r\nTransfer-Encoding: chunked\r\n\r\n")
      client.send(chunk)
    }
    #expect(server.eventually { budgets.bodies.heldBytes > 0 })
    #expect(budgets.bodies.heldBytes <= 256 << 10)
    for client in clients { client.send("0\r\n\r\n") }
    let statuses = try clients.map { try $0.readResponse().status }
    #expect(Set(statuses) == [200, 429])
    #expect(server.eventually { budgets.bodies.heldBytes == 0 })
  }

  /// A body counts until its request has been answered.
  @Test func whatIsWorkedOnIsHeld() throws {
    let budgets = HTTPBudgets()
    let server = try TestServer(budgets: budgets)
    let client = try RawConnection(port: server.port)
    let body = String(repeating: "x", count: 100_000)
    client.send("POST /hold HTTP/1.1\r\nHost: t\r\nContent-Length: 100000\r\n\r\n\(body)")
    #expect(server.eventually { server.notes.contains("handle /hold") })
    #expect(budgets.bodies.heldBytes == 100_000)
    // A client that leaves does not end the work, so the body still counts.
    client.close()
    #expect(server.eventually { server.openConnections == 0 })
    #expect(budgets.bodies.heldBytes == 100_000)
    _ = server.onLoop { _, handler in handler.requests = [] }
    #expect(server.eventually { budgets.bodies.heldBytes == 0 })
  }

  // MARK: Answers

  private func askForMuch(_ server: TestServer, _ method: String = "GET", account: String) throws
    -> RawConnection
  {
    let client = try RawConnection(port: server.port, receiveBytes: 4_096)
    client.send("\(method) /large HTTP/1.1\r\nHost: t\r\nAccount: \(account)\r\n\r\n")
    return client
  }

  @Test func answersThatNobodyTakesAreBounded() throws {
    let budgets = HTTPBudgets(answers: SharedBytes(limitBytes: 30 << 20, accountBytes: 10 << 20))
    let server = try TestServer(budgets: budgets)
    let first = try askForMuch(server, account: "a")
    #expect(try first.readHead().status == 200)
    #expect(try askForMuch(server, account: "a").readResponse().status == 429)
    let other = try askForMuch(server, account: "b")
    #expect(try other.readHead().status == 200)
    #expect(try askForMuch(server, account: "c").readResponse().status == 503)
    #expect(budgets.answers.heldBytes == 16 << 20)
    // The results of changes are always sent.
    let done = try askForMuch(server, "POST", account: "a")
    #expect(try done.readHead().status == 200)
    for client in [first, other, done] { client.close() }
    #expect(server.eventually { budgets.answers.heldBytes == 0 && budgets.answers.accountsHolding == 0 })
    let last = try askForMuch(server, account: "c")
    #expect(try last.readHead().status == 200)
    #expect(try last.read(count: 8 << 20).count == 8 << 20)
    #expect(server.eventually { budgets.answers.heldBytes == 0 })
  }
}
