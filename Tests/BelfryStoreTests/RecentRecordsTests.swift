import BelfryModel
import ModelSamples
import Testing

@testable import BelfryStore

@Suite struct RecentRecordsTests {
  /// The decoded value of a record is kept with its text, and removed with it.
  @Test func settingsAreThoseOfTheLatestText() throws {
    let recent = RecentRecords()
    let addresses: [RecordAddress] = [.settings(space), .channel(7, of: space), .member("bob", of: space)]
    for name in ["first", "second"] {
      let server = ServerRecord(name: name, owner: "alice", createdAt: 0, defaultChannelId: 7)
      let channel = ChannelRecord(name: name, type: .public, membership: .everyone, createdAt: 0)
      recent.remember(
        Records([
          addresses[0]: try RecordJSON.text(server), addresses[1]: try RecordJSON.text(channel),
          addresses[2]: "m 0-0",
        ]))
      for _ in 0..<2 {
        let records = try #require(recent.cached(addresses))
        #expect(try records.server(space).name == name)
        #expect(try records.channel(7, of: space).name == name)
        #expect(try records.member("bob", of: space)?.role == .member)
      }
    }
    recent.remember(Records([addresses[1]: nil]))
    let records = try #require(recent.cached(addresses))
    #expect(throws: Refusal.self) { _ = try records.channel(7, of: space) }
    #expect(recent.cached([.former("bob", of: space)]) == nil)
  }
}
