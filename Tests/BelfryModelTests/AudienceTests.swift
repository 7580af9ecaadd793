import BelfryModel
import ModelSamples
import TestKit
import Testing

struct AudienceTests {
  @Test(arguments: [
    (Audience(.all), "all"),
    (Audience(.byThreshold), "?"),
    (Audience(.subscribed, channel: 77), "subscribed channel:77"),
    (Audience(.all, channel: 77, channelHasRoster: true, except: ["carol"]), "all roster:77 -carol"),
    (Audience(.subscribed, named: ["alice", "bob"]), "subscribed +alice,bob"),
    (Audience(.all, isMomentary: true, named: ["lea"]), "all inside +lea"),
    (Audience(.viewers, channel: 77, named: ["olivia"]), "viewers channel:77 +olivia"),
    (Audience(.named, named: ["-", "."], except: ["@"]), "named +-,. -@"),
  ])
  func text(audience: Audience, text: String) { #expect(audience.text == text) }

  @Test func textRoundTrips() {
    var random = SeededGenerator(seed: TestEnvironment.seed)
    for _ in 0..<5_000 {
      let audience = random.audience()
      #expect(Audience(text: audience.text) == audience, "\(audience.text)")
    }
  }

  @Test(arguments: [
    "", " ", "everyone", "ALL", "all ", " all", "all  +a", "all channel", "all channel:", "all channel:0",
    "all guild:7", "all roster:x", "all +a b", "all +é", "named a", "all\n", "all +a;b",
  ])
  func whatIsNoAudience(text: String) { #expect(Audience(text: text) == nil) }

  /// An entry whose threshold nobody applied is shown to nobody.
  @Test func undecidedIsNoAudienceOfAnEntry() { #expect(Audience(text: "?") == nil) }
}
