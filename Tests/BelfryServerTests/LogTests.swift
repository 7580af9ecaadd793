import Testing

@testable import BelfryServer

@Suite struct LogTests {
  @Test func aLineIsOneLine() {
    let line = Log.render(
      "redis lost", ["loop": "1", "cause": "two\nlines \"quoted\"", "empty": ""], at: 1_763_700_011_005)
    #expect(
      line
        == #"2025-11-21T04:40:11.005Z redis lost loop=1 cause="two\nlines \"quoted\"" empty="""# + "\n")
  }

  @Test func aFactInsideAFactIsQuoted() {
    let line = Log.render("audit", ["target": "made=/v1/servers/12", "status": "201"], at: 1_763_700_011_005)
    #expect(line == #"2025-11-21T04:40:11.005Z audit target="made=/v1/servers/12" status=201"# + "\n")
  }
}
