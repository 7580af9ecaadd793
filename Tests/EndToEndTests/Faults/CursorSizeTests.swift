import BelfryModel
import Foundation
import TestKit
import Testing

extension EndToEnd {
  /// A broker accepts every cursor that it gives out, in each place where a client may put it.
  @Suite struct CursorSize {
    @Test func ofSevenHundredServersItIsShort() async throws {
      try await withWorld { world in
        let owner = try Person("owner", at: world[0])
        let stream = try owner.stream()
        var servers: [String] = []
        for _ in 0..<700 {
          let answer = try owner.call("POST", "/v1/servers", ["name": "s"])
          try #require(answer.status == 201, "\(answer)")
          servers.append(try #require(answer["serverId"]))
        }
        for server in servers { try owner.mustSend(server, ["serverId": server]) }
        try owner.mustSend("end", ["serverId": servers[0]])
        #expect(stream.wait(forBody: "end"))
        let cursor = try #require(stream.lastID)
        #expect(cursor.utf8.count <= 2_048, "\(cursor.utf8.count) bytes")
        #expect(cursor.split(separator: ".").count > 60)
        try expectTaken(cursor, by: owner)
      }
    }

    @Test func theLongestThatThereCanBeIsTaken() async throws {
      var cursor = FeedCursor()
      let partitions = try #require(Partitions(count: Partition.limit))
      let time: Int64 = MessageID.epochMilliseconds + (1 << 41) - 2_000
      for partition in partitions.all {
        let space = SpaceID.personal(try #require(AccountID("a")))
        let id = MessageID(
          unixMilliseconds: time + Int64(partition.number), partition: partition, sequence: 4_095)
        cursor.advance(space, to: id)
        cursor.takeIntoAccount(indexThrough: id)
      }
      let account = String(repeating: "a", count: 32)
      for number in 0..<FeedCursor.laggingLimit {
        let server = try #require(EntityID(.max - Int64(number)))
        let space = SpaceID.server(server)
        let partition = partitions.holding(space)
        let place = MessageID(unixMilliseconds: time, partition: partition, sequence: 1)
        let isAdmitted = cursor.addLagging(space, since: place, .standard)
        #expect(isAdmitted)
      }
      let text = cursor.text
      #expect(text.utf8.count > 1_024 * 13 && text.utf8.count <= FeedCursor.textBytesMost(in: partitions))
      #expect(FeedCursor(text: text) == cursor)
      try await withWorld(settings: ["BELFRY_PARTITIONS": "\(Partition.limit)"]) { world in
        let alice = try Person(account, at: world[0])
        try expectTaken(text, by: alice)
      }
    }

    private func expectTaken(_ cursor: String, by person: Person) throws {
      #expect(try person.call("GET", "/v1/notifications?after=\(cursor)").status == 200)
      #expect(try person.stream(after: cursor).status == 200)
      let query = try EventStream(
        port: person.broker.port, path: "/v1/notifications/stream?after=\(cursor)", headers: person.headers)
      #expect(query.status == 200)
    }
  }
}
