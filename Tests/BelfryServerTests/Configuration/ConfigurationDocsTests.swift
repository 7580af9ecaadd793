import BelfryModel
import Testing

@testable import BelfryServer

@Suite struct ConfigurationDocsTests {
  @Test func everyLimitAndItsDefaultIsOnTheLimitsPage() throws {
    let page = try ProjectFile.read("docs/limits.md")
    for field in Mirror(reflecting: Limits()).children {
      let name = try #require(field.label)
      let row = "| `\(name)` | \(field.value) |"
      #expect(page.contains(row), "docs/limits.md needs a row that begins \(row)")
    }
  }

  @Test func whatIsSaidOfTheEmbeddedRedisIsSo() throws {
    let page = try ProjectFile.read("docs/limits.md")
    #expect(RedisSupervisor.answerTimeout == .seconds(30) && page.contains("| 30 s, then 30 s between"))
    #expect(RedisLaunch.stopTimeout == .seconds(15) && page.contains("| 15 s, then it is killed"))
    #expect(RestartBackoff.delayMax == .seconds(5) && page.contains("| up to 5 s |"))
    #expect(RedisLaunch.logSizeMaxBytes == 4 << 20 && page.contains("| 4 MiB, and the one before |"))
  }
}
