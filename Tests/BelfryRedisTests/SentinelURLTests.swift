import BelfryBytes
import Testing

@testable import BelfryRedis

@Suite struct SentinelURLTests {
  @Test func hostsNameAndDatabaseAreRead() throws {
    let endpoint = try RedisEndpoint(url: "redis+sentinel://s1,s2:26380,[::1]:7,[::2]/my%20master/3")
    var group = SentinelGroup(
      name: "my master",
      sentinels: [
        .tcp(host: "s1", port: 26_379), .tcp(host: "s2", port: 26_380), .tcp(host: "::1", port: 7),
        .tcp(host: "::2", port: 26_379),
      ])
    #expect(endpoint.sentinels == group)
    #expect(endpoint.database == 3 && endpoint.tls == nil && !endpoint.hasPassword)
    #expect(
      endpoint.description == "redis+sentinel://s1:26379,s2:26380,[::1]:7,[::2]:26379/my master/3")
    group.sentinels = [.tcp(host: "s", port: 26_379)]
    group.name = "m"
    for url in ["redis+sentinel://s/m", "redis+sentinel://s/m/", "redis+sentinel://s/m/0?"] {
      #expect(try RedisEndpoint(url: url).sentinels == group)
    }
  }

  @Test func credentialsOfBothAreReadAndNotShown() throws {
    let url =
      "redis+sentinel://belfry:p%40ss@s1,s2/main/1?sentinel_username=w&sentinel_password=s%263cret"
    let endpoint = try RedisEndpoint(url: url)
    #expect(endpoint.username == "belfry" && endpoint.password == "p@ss")
    #expect(endpoint.sentinels?.username == "w" && endpoint.sentinels?.password == "s&3cret")
    #expect(endpoint.description == "redis+sentinel://s1:26379,s2:26379/main/1")
    for shown in ["\(endpoint.address)", "\(endpoint.sentinels as Any)", url.withoutCredentials] {
      #expect(!shown.contains("3cret") && !shown.contains("p%40ss"), "\(shown)")
    }
    let only = try RedisEndpoint(url: "redis+sentinel://s/main?sentinel_password=x")
    #expect(only.password == nil && only.hasPassword)
    #expect(
      "(redis+sentinel://s/m?sentinel_password=a@3&b)".withoutCredentials
        == "(redis+sentinel://s/m?sentinel_password=***")
  }

  @Test func encryptionIsForSentinelsAndMaster() throws {
    let endpoint = try RedisEndpoint(
      url: "rediss+sentinel://s/main?ca=/ca.pem&sentinel_password=x&cert=/c.pem&key=/k.pem")
    #expect(endpoint.tls?.authorityFile == "/ca.pem" && endpoint.tls?.keyFile == "/k.pem")
    #expect(endpoint.description == "rediss+sentinel://s:26379/main")
    #expect(try RedisEndpoint(url: "rediss+sentinel://s/main").tls == RedisTLS())
  }

  @Test(arguments: [
    ("redis+sentinel://", "Sentinel 1: the host is missing"),
    ("redis+sentinel:///main", "Sentinel 1: the host is missing"),
    ("redis+sentinel://a,/main", "Sentinel 2: the host is missing"),
    ("redis+sentinel://a,,b/main", "Sentinel 2: the host is missing"),
    ("redis+sentinel://a,b:0/main", "Sentinel 2: the port must be"),
    ("redis+sentinel://a:x,b/main", "Sentinel 1: the port must be"),
    ("redis+sentinel://[::1/main", "Sentinel 1: the bracket"),
    ("redis+sentinel://a", "the master's name is missing"),
    ("redis+sentinel://a/", "the master's name is missing"),
    ("redis+sentinel://a//1", "the master's name is missing"),
    ("redis+sentinel://a/50%", "the master's name has an invalid percent-encoding"),
    (
      "redis+sentinel://a/main/x",
      "the database must be a number; in a password, write / as %2F, @ as %40 and # as %23"
    ),
    (
      "redis+sentinel://a/main/1/2",
      "the database must be a number; in a password, write / as %2F, @ as %40 and # as %23"
    ),
    ("redis+sentinel://a/main?db=1", "only ?sentinel_username=, sentinel_password= may"),
    ("redis+sentinel://a/main?ca=/ca.pem", "only ?sentinel_username=, sentinel_password= may"),
    ("rediss+sentinel://a/main?insecure=1", "ca=, cert=, key= may follow the name"),
    ("rediss+sentinel://a/main?cert=/c.pem", "go together"),
    ("redis+sentinel://a/main?sentinel_password=", "sentinel_password= is empty"),
    ("redis+sentinel://a/main?sentinel_username=w", "needs sentinel_password="),
    ("redis+sentinel://user@a/main", "password is missing"),
    ("sentinel://a/main", "redis+sentinel:// or rediss+sentinel://"),
  ])
  func badURLsAreRefusedWithTheReason(url: String, reason: String) {
    let error = #expect(throws: RedisError.self) { try RedisEndpoint(url: url) }
    #expect(error?.code == .invalidEndpoint)
    #expect(error?.cause.contains(reason) == true, "\(error?.cause ?? "")")
  }

  /// An & that was not escaped makes a key of the rest of a password.
  @Test func noWordOfAPasswordIsInAnError() {
    for url in [
      "redis+sentinel://a/main?sentinel_password=x&s3cret", "redis+sentinel://:s3cret@a:x/main",
      "redis+sentinel://a/main?sentinel_password=s3cret%", "redis+sentinel://:s3cret@/main",
    ] {
      let error = #expect(throws: RedisError.self) { try RedisEndpoint(url: url) }
      #expect(error.map { "\($0)".contains("s3cret") } == false)
    }
  }
}
