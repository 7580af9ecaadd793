import BelfryModel
import BelfryStore
import ModelSamples

// The marks of accounts.
extension World {
  func markRead(_ account: Int, _ places: [Int]) async throws -> String {
    let seen = try await visible(to: cast.accounts[account])
    let chosen = seen.isEmpty ? [] : places.map { seen[$0 % seen.count] }
    return try await mark(ReadMark(items: chosen.map(\.id), directMessages: directMessages(chosen)), account)
  }

  func readUpToNow(_ account: Int) async throws -> String {
    let seen = try await visible(to: cast.accounts[account])
    let watermarks = try await store.lastIDs(of: store.partitions.all).filter { $0 > .zero }
    let read = try await store.wholeReadState(of: cast.accounts[account])
    let late = read.lagging.keys.sorted { $0.key < $1.key }
    let mark = ReadMark(
      items: [], covered: seen.map(\.id), watermarks: watermarks, caughtUp: late, upTo: watermarks.max(),
      directMessages: directMessages(seen))
    return try await self.mark(mark, account)
  }

  func rewind(_ account: Int) async throws -> String {
    try await mark(ReadMark(items: [], watermarks: [beginning]), account) + ", rewound"
  }

  /// As hubs do: on the read state as it is, until it is still that.
  private func mark(_ mark: ReadMark, _ account: Int) async throws -> String {
    var mark = mark
    while true {
      mark.version = try await store.wholeReadState(of: cast.accounts[account]).version
      if case .marked(let count, let version) = try await store.markRead(mark, by: cast.accounts[account]) {
        return "read \(count), now version \(version)"
      }
    }
  }

  private func directMessages(_ chosen: [Seen]) -> [SpaceID: MessageID] {
    Dictionary(chosen.filter { $0.space.kind == .direct }.map { ($0.space, $0.id) }, uniquingKeysWith: max)
  }
}
