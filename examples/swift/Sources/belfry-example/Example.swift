import BelfryClient
import Foundation

/// A producer and a consumer with BelfryClient.
///
///     belfry-example send ACCOUNT TEXT    sends to an account
///     belfry-example tail [COUNT]         prints what comes, COUNT notifications or for ever, and continues where it stopped
///     belfry-example read                 marks all of it read, up to the last that tail has shown
///
/// BELFRY_URL (http://127.0.0.1:8080), BELFRY_TOKEN; CURSOR, the file that remembers where tail was (belfry.cursor).
@main
struct Example {
  private let client: BelfryClient
  private let cursor: URL
  private var last: URL { cursor.appendingPathExtension("last") }

  static func main() async {
    let environment = ProcessInfo.processInfo.environment
    guard let url = URL(string: environment["BELFRY_URL"] ?? "http://127.0.0.1:8080"),
      let token = environment["BELFRY_TOKEN"]
    else { fail("BELFRY_TOKEN is needed, and BELFRY_URL must be a URL") }
    let example = Example(
      client: BelfryClient(baseURL: url, token: token),
      cursor: URL(fileURLWithPath: environment["CURSOR"] ?? "belfry.cursor"))
    do {
      try await example.run(Array(CommandLine.arguments.dropFirst()))
    } catch let error as BelfryError {
      fail("\(error.code): \(error.detail)")
    } catch {
      fail("\(error)")
    }
  }

  private func run(_ arguments: [String]) async throws {
    switch (arguments.first, arguments.count) {
    case ("send", 3):
      guard let account = AccountID(arguments[1]) else { Self.fail("\(arguments[1]) is no account") }
      // Tried again by itself where that may help; with its messageClientId it stays one notification.
      print(try await client.send(NewNotification(toAccids: [account], body: arguments[2])).messageServerId.text)
    case ("tail", 1): try await tail(count: nil)
    case ("tail", 2): try await tail(count: Int(arguments[1]))
    case ("read", 1):
      guard let id = saved(last).flatMap({ MessageID($0) }) else { Self.fail("tail has shown nothing yet") }
      print(try await client.markRead(upTo: id))
    default: Self.fail("send ACCOUNT TEXT | tail [COUNT] | read")
    }
  }

  private func tail(count: Int?) async throws {
    var left = count
    // Reconnects by itself, and goes on behind the last event that this loop was handed.
    for try await event in client.notifications(after: saved(cursor)) {
      switch event {
      case .notification(let notification, let place):
        let content = notification.content
        print("\(content.fromAccount?.text ?? "-"): \(content.body ?? "type \(content.type)")")
        try save(notification.messageServerId.text, last)
        // Behind the effect: after a crash in between, one notification is shown twice, and none is left out.
        if !place.isEmpty { try save(place, cursor) }
        left = left.map { $0 - 1 }
        if left == 0 { return }
      case .updated(_, let place), .retracted(_, let place): try save(place, cursor)
      case .gap(let from, let to): Self.warn("what came between \(from.text) and \(to.text) is gone")
      case .kicked(let reason, _, _): Self.warn("the broker hung up: \(reason)")
      case .read, .preferences, .counts, .device, .connected, .disconnected, .other: break
      }
    }
  }

  private func saved(_ file: URL) -> String? { try? String(contentsOf: file, encoding: .utf8) }
  private func save(_ text: String, _ file: URL) throws { try Data(text.utf8).write(to: file, options: .atomic) }
  private static func warn(_ text: String) { FileHandle.standardError.write(Data((text + "\n").utf8)) }
  private static func fail(_ text: String) -> Never {
    warn(text)
    exit(1)
  }
}
