import Testing

@testable import BelfryRedis

@Suite struct RedisCommandTests {
  @Test func itIsEncodedAsRedisReadsIt() {
    var command = RedisCommand("SET", "kéy", [UInt8]([0, 13, 10]), 42)
    command.append(contentsOf: ["EX", "7"])
    command.append(Int64.min)
    var buffer = Array("before".utf8)
    command.encode(into: &buffer)
    let head = "before*7\r\n$3\r\nSET\r\n$4\r\nkéy\r\n$3\r\n\0\r\n\r\n$2\r\n42\r\n$2\r\nEX\r\n$1\r\n7\r\n"
    #expect(buffer == Array((head + "$20\r\n-9223372036854775808\r\n").utf8))
    #expect(command.byteCount == buffer.count - 6)
    #expect(command.name == "SET")
  }
}

@Suite struct OutputBufferTests {
  private func words(_ count: Int) -> [String] { (0..<count).map { "word \($0)" } }

  /// The count of arguments is written before them, with any number of digits.
  @Test(arguments: [0, 1, 8, 9, 10, 97, 98, 99, 100, 998, 999, 1_000, 12_345])
  func aCommandThatIsWrittenInPlaceReadsAsOneThatWasMade(count: Int) {
    var made = RedisCommand("SADD")
    made.append(contentsOf: words(count))
    let (written, expected) = (OutputBuffer(), OutputBuffer())
    _ = written.batch { output in
      output.append(RedisCommand("PING"))
      output.append("SADD") { $0.append(contentsOf: words(count)) }
      output.append("PING") { _ in }
    }
    let batch = written.batch { $0.append("GET") { $0.append("key") } }
    _ = expected.batch { output in
      for command in [RedisCommand("PING"), made, RedisCommand("PING")] { output.append(command) }
    }
    #expect(batch.name == "GET" && batch.commandCount == 1)
    #expect(written.takeBack(batch) == Array("*2\r\n$3\r\nGET\r\n$3\r\nkey\r\n".utf8))
    #expect(content(written) == content(expected))
  }

  @Test func aBatchKnowsItsFirstCommandAndItsSize() {
    let output = OutputBuffer()
    let first = output.batch { $0.append(RedisCommand("PING")) }
    let second = output.batch { output in
      output.append("GET") { $0.append("key") }
      output.append(RedisCommand("PING"))
    }
    #expect(first.name == "PING" && first.commandCount == 1 && first.byteCount == 14)
    #expect(second.name == "GET" && second.commandCount == 2 && second.byteCount == 22 + 14)
    #expect(output.takeBack(second).count == 36)
    #expect(output.takeBack(first).count == 14)
    #expect(output.isEmpty)
  }

  private func content(_ output: OutputBuffer) -> [UInt8] {
    output.takeBack(OutputBuffer.Batch(byteCount: .max))
  }
}

@Suite struct RedisReplyTests {
  private static let nested = [
    RedisReply.array([.bulk([1, 2]), .array([.array([]), .integer(3)])]), .null, .bulk([]), .status("OK"),
  ]

  @Test func elementsAreFoundByTheirNumberBehindArraysToo() throws {
    let replies = try RedisReply.array(Self.nested).array()
    #expect(replies.count == 4 && Array(replies) == Self.nested)
    #expect(replies.indices.map { replies[$0] } == Self.nested)
    #expect(try replies[0].array()[1].array() == RedisReply.array([.array([]), .integer(3)]).array())
  }

  @Test func elementsAreReadInPlace() throws {
    var reader = try RedisReply.array(Self.nested).array().reader
    try reader.array(count: 2)
    #expect(try reader.bytes() == [1, 2])
    #expect(reader.isAtArray)
    reader.skip()
    #expect(!reader.isAtArray)
    #expect(try reader.bytesIfPresent() == nil)
    #expect(try reader.bytesIfPresent() == [])
    #expect(code { try reader.bytes() } == .unexpectedReply)
    #expect(code { try reader.array() } == .unexpectedReply, "nothing is left")
    reader = try RedisReply.array([.error("ERR no")]).array().reader
    #expect(code { try reader.array(count: 1) } == .replied)
  }

  @Test func accessorsTakeWhatFits() throws {
    #expect(try RedisReply.integer(7).integer() == 7)
    #expect(try RedisReply.bulk(Array("-7".utf8)).integer() == -7)
    #expect(try RedisReply.bulk([0, 255]).bytes() == [0, 255])
    #expect(try RedisReply.status("OK").string() == "OK")
    #expect(try RedisReply.bulk(Array("é".utf8)).string() == "é")
    #expect(Array(try RedisReply.array([.null]).array(count: 1)) == [.null])
    #expect(try RedisReply.null.ifPresent?.integer() == nil)
    #expect(try RedisReply.integer(1).ifPresent?.integer() == 1)
  }

  @Test func accessorsRefuseWhatDoesNotFit() {
    #expect(code { try RedisReply.bulk(Array("7x".utf8)).integer() } == .unexpectedReply)
    #expect(code { try RedisReply.null.integer() } == .unexpectedReply)
    #expect(code { try RedisReply.bulk([255]).string() } == .unexpectedReply)
    #expect(code { try RedisReply.integer(1).bytes() } == .unexpectedReply)
    #expect(code { try RedisReply.array([]).array(count: 1) } == .unexpectedReply)
    #expect(code { try RedisReply.error("ERR no").array() } == .replied)
  }

  private func code<R>(_ body: () throws -> R) -> RedisError.Code? {
    do {
      _ = try body()
      return nil
    } catch {
      return (error as? RedisError)?.code
    }
  }
}

@Suite struct RedisEndpointTests {
  @Test(arguments: [
    ("redis://localhost", RedisEndpoint.tcp("localhost", 6379)),
    ("redis://10.0.0.1:7000", .tcp("10.0.0.1", 7000)),
    ("redis://[::1]:7000/", .tcp("::1", 7000)),
    ("unix:///run/redis.sock", .unixSocket("/run/redis.sock")),
  ])
  func addressesAreRead(url: String, expected: RedisEndpoint) throws {
    #expect(try RedisEndpoint(url: url) == expected)
  }

  @Test func credentialsAndDatabaseAreReadButNotShown() throws {
    let tcp = try RedisEndpoint(url: "redis://belfry:p%40ss%3Aword@redis:6380/5")
    #expect(tcp.username == "belfry")
    #expect(tcp.password == "p@ss:word")
    #expect(tcp.database == 5)
    #expect(tcp.description == "redis://redis:6380/5")

    let unix = try RedisEndpoint(url: "unix://:secret@/run/redis.sock?db=2")
    #expect(unix.username == nil)
    #expect(unix.password == "secret")
    #expect(unix.description == "unix:///run/redis.sock?db=2")
  }

  @Test func filesForTLSAreRead() throws {
    let endpoint = try RedisEndpoint(
      url: "rediss://:secret@redis:6380/5?ca=/etc/a%20b.pem&cert=/c.pem&key=/k.pem")
    #expect(endpoint.address == .tcp(host: "redis", port: 6380))
    #expect(endpoint.database == 5)
    #expect(endpoint.tls?.authorityFile == "/etc/a b.pem")
    #expect(endpoint.tls?.certificateFile == "/c.pem")
    #expect(endpoint.tls?.keyFile == "/k.pem")
    #expect(endpoint.description == "rediss://redis:6380/5")
    #expect(try RedisEndpoint(url: "rediss://redis").tls == RedisTLS())
  }

  @Test(arguments: [
    ("localhost:6379", "redis://, rediss://, unix://"),
    ("http://localhost", "redis://, rediss://, unix://"),
    ("rediss://localhost?cert=/c.pem", "go together"),
    ("rediss://localhost?ca=", "name a file"),
    ("rediss://localhost?insecure=1", "?ca=, cert= and key="),
    ("redis://", "host"),
    ("redis://:6379", "host"),
    ("redis://localhost:", "port"),
    ("redis://localhost:0", "port"),
    ("redis://localhost:65536", "port"),
    ("redis://[::1", "bracket"),
    ("redis://localhost/name", "database"),
    ("redis://user@localhost", "password"),
    ("redis://:50%@localhost", "percent-encoding"),
    ("unix://run/redis.sock", "absolute"),
    ("unix:///run/redis.sock?database=1", "?db="),
    ("unix:///" + String(repeating: "x", count: 107), "107 bytes"),
  ])
  func badURLsAreRefusedWithTheReason(url: String, reason: String) {
    let error = #expect(throws: RedisError.self) { try RedisEndpoint(url: url) }
    #expect(error?.code == .invalidEndpoint)
    #expect(error?.cause.contains(reason) == true)
  }
}
