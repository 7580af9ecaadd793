import BelfryBytes
import Testing

@testable import belfry

@Suite struct ArgumentParserTests {
  private let command = Command(
    name: "ring", summary: "ring bells",
    operands: [
      Operand(name: "BELL", meaning: "which"),
      Operand(name: "TIMES", meaning: "how often", isRequired: false),
    ],
    options: [
      CommandOption.value("by", "ACCID", "who rings").required,
      .choice("how", ["softly", "loudly"], "the manner"), .flag("muffled", "with leather"),
      .list("for", "ACCID", "whom"),
    ],
    examples: [], run: { _ in })

  private func parse(_ words: String...) throws -> Arguments { try ArgumentParser.parse(words, for: command) }
  private func refusal(_ words: String...) -> UsageError? {
    do throws(UsageError) {
      _ = try ArgumentParser.parse(words, for: command)
      return nil
    } catch {
      return error
    }
  }

  @Test func `operands and options stand in any order, values beside or attached`() throws {
    let expected = try parse("great", "--by", "alice", "--how=softly", "--muffled", "3")
    #expect(expected == (try parse("--muffled", "great", "--how", "softly", "3", "--by=alice")))
    #expect(expected.operands == ["great", "3"])
    #expect(expected.text("by") == "alice")
    #expect(expected.isSet("muffled"))
    #expect(!expected.isSet("for"))
  }

  @Test func `lists take commas and repetition`() throws {
    #expect(try parse("great", "--by", "a", "--for", "b,c", "--for=d").list("for") == ["b", "c", "d"])
  }

  @Test func `an empty list is no list that was left out`() {
    #expect(refusal("great", "--for", "") != nil)
    for list in ["b,,c", ",b", "b,"] {
      #expect(
        refusal("great", "--by", "a", "--for", list) == UsageError("a value of --for is empty: \(list)"))
    }
  }

  @Test func `a list takes all words up to the next option where no operand could be meant`() throws {
    let command = Command(
      name: "read", summary: "", options: [.list("message", "ID", ""), .flag("json", "")], examples: [],
      run: { _ in })
    let arguments = try ArgumentParser.parse(["--message", "1", "2,3", "--json"], for: command)
    #expect(arguments.list("message") == ["1", "2", "3"])
    #expect(arguments.isSet("json"))
  }

  @Test func `after two dashes everything is an operand`() throws {
    #expect(try parse("--by", "a", "--", "--how", "-x").operands == ["--how", "-x"])
  }

  @Test func `a name of a key may begin with a dash`() throws {
    let command = Command(
      name: "retire", summary: "", operands: [Operand(name: "KID", meaning: "the key")], options: [],
      examples: [], run: { _ in })
    #expect(try ArgumentParser.parse(["-lg5B50b"], for: command).operands == ["-lg5B50b"])
    #expect(throws: UsageError.self) { try ArgumentParser.parse(["-h"], for: command) }
  }

  @Test func `a code may begin with two dashes`() throws {
    let retire = Command.secretRetire
    for code in ["--hzOUNf", "---zOUNf", "-hzOUNf8", "7LJO4GnQ"] {
      let arguments = try ArgumentParser.parse([code, "--data", "d", "--yes"], for: retire)
      #expect(arguments.operands == [code])
      #expect(try ArgumentParser.parse(["--yes", code], for: retire).operands == [code])
    }
    for wrong in ["--verbose", "--dat", "--data=x", "--hzO=Nf"] {
      #expect(throws: UsageError.self) { try ArgumentParser.parse([wrong], for: retire) }
    }
  }

  @Test func `a value may be empty, negative, or an option's name when attached`() throws {
    #expect(try parse("great", "--by", "-5").text("by") == "-5")
    #expect(try parse("great", "--by=").text("by") == "")
    #expect(try parse("great", "--by=--how").text("by") == "--how")
  }

  @Test func `an unknown option is named with the nearest one there is`() {
    #expect(
      refusal("great", "--muffeld") == UsageError("there is no option --muffeld", suggestion: "--muffled"))
    #expect(refusal("great", "--hlep") == UsageError("there is no option --hlep", suggestion: "--help"))
    #expect(refusal("great", "--muf")?.suggestion == "--muffled")
    #expect(refusal("great", "--colour") == UsageError("there is no option --colour"))
    #expect(refusal("great", "-by")?.suggestion == "--by")
    #expect(refusal("great", "--by-account", "a")?.suggestion == "--by ACCID")
  }

  @Test func `a wrong choice is named with the nearest one there is`() {
    #expect(
      refusal("great", "--by", "a", "--how", "softy")
        == UsageError("--how must be softly or loudly, not softy", suggestion: "softly"))
  }

  @Test func `what is missing, too much or twice is named`() {
    #expect(
      refusal("--by", "a")
        == UsageError("BELL is needed: which", suggestion: "belfry ring BELL [TIMES] --by ACCID"))
    #expect(refusal("great") == UsageError("--by is needed: who rings"))
    #expect(refusal("great", "--by") == UsageError("--by needs a value"))
    #expect(refusal("great", "--by", "--") == UsageError("--by needs a value"))
    #expect(
      refusal("great", "--by", "--how", "softly")
        == UsageError("--by needs a value; if --how is the value, write --by=--how"))
    #expect(
      refusal("great", "--by", "-- x")
        == UsageError("--by needs a value; if -- x is the value, write --by='-- x'"))
    #expect(refusal("great", "--by", "a", "--by", "b") == UsageError("--by is given twice"))
    #expect(refusal("great", "--muffled=yes") == UsageError("--muffled takes no value"))
  }

  @Test func `a stray word is shown where it belongs`() {
    let only = "Apart from options, this command takes only BELL and TIMES"
    #expect(
      refusal("great", "3", "bob") == UsageError("bob is not understood. \(only)", suggestion: "--by bob"))
    #expect(refusal("great", "3", "softly", "--by", "a")?.suggestion == "--how softly")
    #expect(refusal("great", "3", "4", "--by", "a") == UsageError("4 is not understood. \(only)"))
    #expect(
      refusal("--bell", "great", "--by", "a")?.suggestion
        == "BELL without --bell: belfry ring BELL [TIMES] --by ACCID")
    let say = Command(
      name: "say", summary: "", options: [.value("server", "ID", ""), .value("body", "TEXT", "")],
      examples: [],
      run: { _ in })
    func hint(_ word: String) -> String? {
      do throws(UsageError) {
        _ = try ArgumentParser.parse([word], for: say)
        return nil
      } catch {
        return error.suggestion
      }
    }
    #expect(hint("12") == "--server 12")
    #expect(hint("it's seven") == "--body 'it'\\''s seven'")
  }

  @Test(arguments: [
    (["tail", "bob"], "--as bob"), (["send", "hello"], "--to hello"),
    (["unread", "bob"], "--as bob"), (["server", "show", "--server", "12"], "SERVER without --server"),
    (["serve", "--port", "0"], "--listen HOST:PORT"),
    (["explain", "7", "--as", "bob"], "--account ACCID"),
    (
      ["group", "invite", "12", "--invitees", "bob"],
      "ACCID without --invitees: belfry group invite GROUP [ACCID…]"
    ),
    (["channel", "create", "12", "--invitees", "bob"], "--members ACCID,…"),
    (["group", "create", "--members", "bob"], "--invitees ACCID,…"),
    (["unread", "--account", "bob"], "--as ACCID"),
    (["server", "create", "--name", "x", "--invitees", "bob"], "belfry server invite SERVER [ACCID…]"),
    (["server", "create", "--name", "x", "--account", "bob"], "--as ACCID"),
    (["account", "prefer", "none", "--space", "group:1"], "--level none"),
    (["send", "--to", "carol", "Hello there"], "--body 'Hello there'"),
  ])
  func `the commands there are say what belongs where`(words: [String], hint: String) throws {
    guard case .command(let command, let rest) = try CommandTable.belfry.find(words) else { return }
    let error = #expect(throws: UsageError.self) { try ArgumentParser.parse(rest, for: command) }
    #expect(error?.suggestion?.hasPrefix(hint) == true, "\(error?.suggestion ?? "")")
  }

  @Test func `a command that changes something takes --yes, and shows it only if it asks`() throws {
    for (words, takes, shows) in [
      (["server", "ban", "1", "x", "--yes"], true, false),
      (["account", "end", "phone", "--yes"], true, false),
      (["read", "--up-to", "all", "--yes"], true, false), (["server", "delete", "1", "--yes"], true, true),
      (["server", "show", "1", "--yes"], false, false), (["tail", "--yes"], false, false),
    ] {
      guard case .command(let command, let rest) = try CommandTable.belfry.find(words) else { continue }
      #expect(((try? ArgumentParser.parse(rest, for: command)) != nil) == takes, "\(words)")
      #expect(HelpText.command(command).contains { $0.contains("--yes") } == shows, "\(words)")
    }
  }

  @Test func `values are checked by the name of their option`() throws {
    func arguments(_ value: String) -> Arguments { Arguments(operands: [value], values: ["x": [value]]) }
    #expect(try arguments("12").entity("x")?.number == 12)
    #expect(try arguments("12").entity("y") == nil)
    #expect(try arguments("7").integer("x", in: 1...9) == 7)
    #expect(try arguments("[1]").json("x") == [1])
    for wrong in ["", "0", "-1", "012", "1x", "9223372036854775808"] {
      #expect(throws: UsageError.self) { try arguments(wrong).entity("x") }
    }
    #expect(throws: UsageError("--x must be a whole number from 1 to 9, not 10")) {
      try arguments("10").integer("x", in: 1...9)
    }
    #expect(throws: UsageError.self) { try arguments("hello").json("x") }
    #expect(throws: UsageError.self) { try arguments("a b").account("x") }
  }
}

@Suite struct WordsElsewhereTests {
  @Test func `each of them stands for a command there is, and is none itself`() {
    let table = CommandTable.belfry
    let last = Set(table.commands.compactMap { $0.words.last.map(String.init) })
    for (word, verbs) in WordsElsewhere.verbs {
      #expect(!verbs.contains(word))
      for verb in verbs { #expect(last.contains(verb), "\(word): \(verb)") }
    }
    for (words, names) in WordsElsewhere.ambiguous {
      #expect(!table.commands.contains { $0.name == words || $0.otherNames.contains(words) })
      for name in names.split(separator: " or ") {
        #expect(table.commands.contains { $0.name == name }, "\(words): \(name)")
      }
    }
    for (word, name) in WordsElsewhere.wholes {
      #expect(
        !table.commands.contains { $0.group == word || $0.name == word || $0.otherNames.contains(word) },
        "\(word)")
      #expect(table.commands.contains { $0.name == name }, "\(word): \(name)")
    }
    for (words, name) in WordsElsewhere.commands {
      #expect(table.commands.contains { $0.name == name }, "\(words): \(name)")
    }
  }

  @Test(arguments: [
    ("member kick", "member remove"), ("server kick", "member remove"), ("group kick", "group remove-member"),
    ("group join", "group apply"), ("room join", "room enter"), ("room stage", "room invite-on-stage"),
    ("member invite", "server invite"), ("room raise", "room raise-hand"), ("server users", "member list"),
    ("server add", "member add"), ("room quit", "room leave"), ("server memebers", nil),
    ("kick", "member remove or channel remove-member or group remove-member or room remove-member"),
    ("group mute-member", "group mute"), ("room mute", "room microphone"), ("account dnd", "account prefer"),
    ("webhook add", "webhook create"), ("notification read 7", "read"), ("badge", "notification counts"),
    ("inbox", "unread"), ("publish", "send"), ("watch --as bob", "tail"), ("ack 7", "read"),
    ("raise", "room raise-hand"), ("room crate", "room create"),
    ("server remove", "member remove or server delete"),
    ("channel remove", "channel remove-member or channel delete"),
  ])
  func `a word of another system leads to the command`(typed: String, meant: String?) {
    let error = #expect(throws: UsageError.self) {
      try CommandTable.belfry.find(typed.split(separator: " ").map(String.init))
    }
    #expect(error?.suggestion == meant)
  }
}

@Suite struct NearestWordTests {
  @Test(arguments: [
    ("sned", "send"), ("tial", "tail"), ("unred", "unread"), ("stat", "stats"),
    ("SEND", "send"), ("expl", "explain"),
  ])
  func `finds what was meant`(typed: String, meant: String) {
    #expect(NearestWord.to(typed, among: CommandTable.belfry.commands.map(\.name)) == meant)
  }

  @Test(arguments: ["", "x", "ringing", "completely-different"])
  func `says nothing when nothing is near`(typed: String) {
    #expect(NearestWord.to(typed, among: ["send", "tail", "explain"]) == nil)
  }

  @Test func `counts insertions, deletions, substitutions and swaps`() {
    func distance(_ left: String, _ right: String) -> Int { NearestWord.distance(Array(left), Array(right)) }
    #expect(distance("", "") == 0)
    #expect(distance("", "abc") == 3)
    #expect(distance("abc", "") == 3)
    #expect(distance("send", "sned") == 1)
    #expect(distance("kitten", "sitting") == 3)
  }
}
