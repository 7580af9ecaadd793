import Testing

@testable import belfry

/// Tables that are too wide for a terminal.
@Suite struct TextTableTests {
  @Test func `where nothing may be cut, only the row that is too long takes several lines`() {
    var table = TextTable(["ID", "SPACE", "FROM", "BODY"], narrowing: .breaking)
    table.add(["7", "server 12", "alice", "Practice is at seven, and not at eight."])
    table.add(["8", "server 12", "-", "one two"])
    #expect(table.lines(columnsLimit: 200).map(\.text) == table.lines)
    #expect(
      table.lines(columnsLimit: 36) == [
        .init(text: "ID  SPACE      FROM   BODY", isHead: true), .init(text: "7   server 12  alice"),
        .init(text: "  Practice is at seven, and not at"), .init(text: "  eight."),
        .init(text: "8   server 12  -      one two"),
      ])
  }

  @Test func `where nothing may be cut and no row fits, each takes several lines, as the header does`() {
    var table = TextTable(["ID", "SPACE", "TYPE", "FROM", "BODY"], narrowing: .breaking)
    let id = "382947191213498368"
    table.add([id, "server 3849200285743151439 (Campfire)", "custom", "alice", "Practice is at seven."])
    table.add([id, "room 12", "custom", "-", "one two"])
    #expect(
      table.lines(columnsLimit: 60) == [
        .init(text: "ID  SPACE  TYPE  FROM", isHead: true), .init(text: "  BODY", isHead: true),
        .init(text: "\(id)  server 3849200285743151439 (Campfire)", isHead: true),
        .init(text: "  custom  alice"), .init(text: "  Practice is at seven."),
        .init(text: "\(id)  room 12  custom", isHead: true), .init(text: "  one two"),
      ])
    #expect(
      table.lines(columnsLimit: 24).map(\.text) == [
        "ID  SPACE  TYPE  FROM", "  BODY", id, "  server", "  3849200285743151439", "  (Campfire)  custom",
        "  alice", "  Practice is at seven.", id, "  room 12  custom", "  one two",
      ])
  }

  @Test func `one long link changes its own row and no other`() {
    var table = TextTable(["WEBHOOK", "LINK", "ENABLED"])
    let long = "https://chat.example/" + String(repeating: "x", count: 60)
    table.add(["12", "https://a.example/hook", "yes"])
    table.add(["13", long, "no"])
    #expect(
      table.lines(columnsLimit: 50) == [
        .init(text: "WEBHOOK  LINK                    ENABLED", isHead: true),
        .init(text: "12       https://a.example/hook  yes"), .init(text: "13", isHead: true),
        .init(text: "  \(long)"), .init(text: "  no"),
      ])
  }

  @Test func `an address keeps its column wide`() {
    var table = TextTable(["PLACE", "IS CONNECTED", "PARTITIONS", "USED MEMORY BYTES"])
    table.add(["unix:///var/lib/belfry/data/redis/redis.sock", "yes", "64", "2108872"])
    #expect(
      table.lines(columnsLimit: 80).map(\.text) == [
        "PLACE                                         IS CONNECTED  PARTITIONS",
        "unix:///var/lib/belfry/data/redis/redis.sock  yes           64",
      ])
  }

  @Test func `columns of ids and times give way before words do`() {
    let id = "382947191213498368"
    var table = TextTable(["SERVER", "NAME", "OWNER", "MEMBER COUNT", "CREATE TIME"])
    table.add([id, "Campfire of the watch", "alice", "2", "2026-01-09 18:02:11"])
    #expect(table.lines(columnsLimit: 80)[1].text == "\(id)  Campfire of the watch  alice  2")
  }
}
