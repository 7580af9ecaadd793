import BelfryModel
import ModelSamples
import Testing

/// One account, `ann`, a member from 10 to 50 and again from 70; the entry stands at `id`.
struct VisibilityTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var id: MessageID = 30
    var audience: String = "all"
    var change: @Sendable (inout Membership) -> Void = { _ in }
    var read = ReadState()
    var floor = MessageID.zero
    var isRecalled = false
    var type = 100
    var preferences: [Preference] = []
    var expected: Visibility

    init(
      _ name: String, id: MessageID = 30, audience: String = "all", read: ReadState = ReadState(),
      floor: MessageID = .zero, isRecalled: Bool = false, type: Int = 100,
      preferring preferences: [Preference] = [], is expected: Visibility,
      membership change: @escaping @Sendable (inout Membership) -> Void = { _ in }
    ) {
      testDescription = name
      self.id = id
      self.audience = audience
      self.change = change
      self.read = read
      self.floor = floor
      self.isRecalled = isRecalled
      self.type = type
      self.preferences = preferences
      self.expected = expected
    }
  }

  static let rows: [Row] = [
    // Membership.
    Row("inside the stay", is: .visible(because: .openToAll)),
    Row("the entry that lets her in is the first", id: 11, is: .visible(because: .openToAll)),
    Row("the one before is not", id: 10, is: .hidden(because: .joinedAfter)),
    Row("the entry that puts her out is the last", id: 50, is: .visible(because: .openToAll)),
    Row("the one after is not", id: 51, is: .hidden(because: .leftBefore)),
    Row("between two stays", id: 70, is: .hidden(because: .leftBefore)),
    Row("in the second stay", id: 71, is: .visible(because: .openToAll)),
    Row("never a member", is: .hidden(because: .neverMember)) { $0 = .never },
    Row("named, but never a member", audience: "named +ann", is: .hidden(because: .neverMember)) {
      $0 = .never
    },
    Row("in one's own space", audience: "named +ann", is: .visible(because: .named)) { $0 = .always },

    // The moment.
    Row("of the moment, having left since", audience: "all inside", is: .hidden(because: .leftSince)),
    Row(
      "of the moment, in the stay that lasts", id: 71, audience: "all inside",
      is: .visible(because: .openToAll)),
    Row(
      "of the moment and named beside the rule, having left", id: 50, audience: "all inside +ann",
      is: .visible(because: .named)),
    Row(
      "of the moment for accounts named, having left", audience: "named inside +ann",
      is: .hidden(because: .leftSince)),
    Row(
      "of the moment for accounts named, inside", id: 71, audience: "named inside +ann",
      is: .visible(because: .named)),

    // Names.
    Row("named", audience: "named +bob,ann", is: .visible(because: .named)),
    Row("not named", audience: "named +bob", is: .hidden(because: .notNamed)),
    Row("a party needs no subscription", audience: "subscribed +ann", is: .visible(because: .named)),
    Row("a party need not be in the channel", audience: "all roster:7 +ann", is: .visible(because: .named)),
    Row("left out", audience: "all -ann", is: .hidden(because: .leftOut)),
    Row("left out, though named", audience: "all +ann -ann", is: .hidden(because: .leftOut)),

    // Channels.
    Row("a channel of everyone", audience: "all channel:7", is: .visible(because: .openToAll)),
    Row("not in the roster", audience: "all roster:7", is: .hidden(because: .notInChannel)),
    Row("in the roster", audience: "all roster:7", is: .visible(because: .openToAll)) {
      $0.channels[7] = .init(intervals: .since(20))
    },
    Row("in the roster only later", audience: "all roster:7", is: .hidden(because: .notInChannel)) {
      $0.channels[7] = .init(intervals: .since(30))
    },
    Row("in another channel's roster", audience: "all roster:7", is: .hidden(because: .notInChannel)) {
      $0.channels[8] = .init(intervals: .since(20))
    },
    Row(
      "subscribed to, but no longer in, the channel", audience: "subscribed roster:7",
      is: .hidden(because: .notInChannel)
    ) {
      $0.channels[7] = .init(
        intervals: Intervals([Interval(after: 20, through: 29)]), subscription: .since(20))
    },

    // The accounts that see a private channel.
    Row("a viewer by the roster", audience: "viewers channel:7", is: .visible(because: .openToAll)) {
      $0.channels[7] = .init(intervals: .since(20))
    },
    Row("a viewer by the allow list", audience: "viewers channel:7", is: .visible(because: .openToAll)) {
      $0.channels[7] = .init(allowed: .since(20))
    },
    Row("no viewer", audience: "viewers channel:7", is: .hidden(because: .notInChannel)),
    Row("a viewer no longer", audience: "viewers channel:7", is: .hidden(because: .notInChannel)) {
      let earlier = Intervals([Interval(after: 20, through: 29)])
      $0.channels[7] = .init(intervals: earlier, allowed: earlier)
    },
    Row("a viewer of another channel", audience: "viewers channel:7", is: .hidden(because: .notInChannel)) {
      $0.channels[8] = .init(intervals: .since(20), allowed: .since(20))
    },
    Row("viewers of nothing", audience: "viewers", is: .hidden(because: .notInChannel)),
    Row("allowed, but not in the roster", audience: "all roster:7", is: .hidden(because: .notInChannel)) {
      $0.channels[7] = .init(allowed: .since(20))
    },
    Row("an allowed and blocked viewer", audience: "viewers channel:7", is: .hidden(because: .blocked)) {
      $0.channels[7] = .init(allowed: .since(20), blocked: .since(25))
    },

    // The block list.
    Row("blocked", audience: "all channel:7", is: .hidden(because: .blocked)) {
      $0.channels[7] = .init(blocked: .since(29))
    },
    Row("blocked and subscribed", audience: "subscribed channel:7", is: .hidden(because: .blocked)) {
      $0.channels[7] = .init(subscription: .since(20), blocked: .since(29))
    },
    Row("blocked only later", audience: "all channel:7", is: .visible(because: .openToAll)) {
      $0.channels[7] = .init(blocked: .since(30))
    },
    Row("blocked no longer", audience: "all channel:7", is: .visible(because: .openToAll)) {
      $0.channels[7] = .init(blocked: Restrictions(Intervals([Interval(after: 20, through: 29)])))
    },
    Row("blocked, and named", audience: "named channel:7 +ann", is: .visible(because: .named)) {
      $0.channels[7] = .init(blocked: .since(29))
    },
    Row("blocked from another channel", audience: "all channel:7", is: .visible(because: .openToAll)) {
      $0.channels[8] = .init(blocked: .since(29))
    },

    // Subscriptions.
    Row("not subscribed", audience: "subscribed", is: .hidden(because: .notSubscribed)),
    Row("subscribed", audience: "subscribed", is: .visible(because: .subscribedBefore)) {
      $0.subscription = .since(29)
    },
    Row(
      "subscribed with the entry before it", audience: "subscribed",
      is: .hidden(because: .subscribedAfter)
    ) { $0.subscription = .since(30) },
    Row("unsubscribed before", audience: "subscribed", is: .hidden(because: .subscriptionEndedBefore)) {
      $0.subscription = Intervals([Interval(after: 20, through: 29)])
    },
    Row("unsubscribed after", audience: "subscribed", is: .visible(because: .subscribedBefore)) {
      $0.subscription = Intervals([Interval(after: 20, through: 30)])
    },
    Row(
      "subscribed to the server, not to the channel", audience: "subscribed channel:7",
      is: .hidden(because: .notSubscribed)
    ) { $0.subscription = .since(20) },
    Row(
      "subscribed to the channel, not to the server", audience: "subscribed",
      is: .hidden(because: .notSubscribed)
    ) { $0.channels[7] = .init(subscription: .since(20)) },
    Row(
      "subscribed to the channel", audience: "subscribed channel:7",
      is: .visible(because: .subscribedBefore)
    ) { $0.channels[7] = .init(subscription: .since(20)) },
    Row(
      "in the roster and subscribed", audience: "subscribed roster:7",
      is: .visible(because: .subscribedBefore)
    ) {
      $0.channels[7] = .init(intervals: .since(20), subscription: .since(20))
    },

    // Custom notifications of a group.
    Row("not stopped", audience: "willing", is: .visible(because: .openToAll)),
    Row("stopped", audience: "willing", is: .hidden(because: .stopped)) { $0.stopped = .since(29) },
    Row("stopped, and built in", audience: "all", is: .visible(because: .openToAll)) {
      $0.stopped = .since(29)
    },

    // Read state and retention.
    Row("read one by one", read: ReadState(above: [30]), is: .hidden(because: .read)),
    Row("read by the watermark", read: ReadState(watermarks: [30]), is: .hidden(because: .read)),
    Row("not yet read", read: ReadState(watermarks: [29]), is: .visible(because: .openToAll)),
    Row("trimmed", floor: 31, is: .hidden(because: .beyondRetention)),
    Row("just inside retention", floor: 30, is: .visible(because: .openToAll)),

    // The changes of the entry since. The time is 1,000.
    Row("recalled", isRecalled: true, is: .hidden(because: .recalled)),
    Row("expired just now", audience: "all until:1000", is: .hidden(because: .expired)),
    Row("expires next", audience: "all until:1001", is: .visible(because: .openToAll)),
    Row("expired, though named", audience: "named until:999 +ann", is: .hidden(because: .expired)),

    // Her preferences.
    Row("muted", preferring: [.init(level: .none)], is: .hidden(because: .notWanted)),
    Row(
      "muted until just now", preferring: [.init(level: .none, until: 1_000)],
      is: .visible(because: .openToAll)),
    Row(
      "muted a moment longer", preferring: [.init(level: .none, until: 1_001)],
      is: .hidden(because: .notWanted)),
    Row(
      "another space is muted", preferring: [.init(space: .server(2), level: .none)],
      is: .visible(because: .openToAll)),
    Row(
      "another type is muted", preferring: [.init(types: [7, 14], level: .none)],
      is: .visible(because: .openToAll)),
    Row(
      "the type is muted", preferring: [.init(types: [7, 100], level: .none)],
      is: .hidden(because: .notWanted)),
    Row(
      "a space goes before types",
      preferring: [.init(space: .server(1), level: .all), .init(types: [100], level: .none)],
      is: .visible(because: .openToAll)),
    Row(
      "both go before a space",
      preferring: [
        .init(space: .server(1), types: [100], level: .none), .init(space: .server(1), level: .all),
      ],
      is: .hidden(because: .notWanted)),
    Row(
      "a party of it", audience: "all +ann", preferring: [.init(level: .parties)],
      is: .visible(because: .named)),
    Row("no party of it", preferring: [.init(level: .parties)], is: .hidden(because: .notWanted)),
    Row(
      "named as an owner beside viewers", audience: "viewers channel:7 +ann",
      preferring: [.init(level: .parties)], is: .hidden(because: .notWanted)),
    Row(
      "the end of the space cannot be muted", type: 6, preferring: [.init(level: .none)],
      is: .visible(because: .openToAll)),
    Row(
      "nor can being kicked", audience: "all +ann", type: 12, preferring: [.init(level: .none)],
      is: .visible(because: .named)),
    Row(
      "that others were kicked can", audience: "all +bob", type: 12, preferring: [.init(level: .none)],
      is: .hidden(because: .notWanted)),
    Row(
      "read before not wanted", read: ReadState(watermarks: [30]), preferring: [.init(level: .none)],
      is: .hidden(because: .read)),

    // Which reason is told when there are several.
    Row(
      "recalled before read", read: ReadState(watermarks: [30]), isRecalled: true,
      is: .hidden(because: .recalled)),
    Row(
      "read before expired", audience: "all until:999", read: ReadState(watermarks: [30]),
      is: .hidden(because: .read)),
    Row(
      "the audience before recalled", audience: "named +bob", isRecalled: true,
      is: .hidden(because: .notNamed)),
    Row("retention before membership", floor: 31, is: .hidden(because: .beyondRetention)) {
      $0 = .never
    },
    Row("membership before the audience", audience: "all -ann", is: .hidden(because: .neverMember)) {
      $0 = .never
    },
    Row(
      "the audience before read", audience: "named +bob", read: ReadState(watermarks: [30]),
      is: .hidden(because: .notNamed)),
    Row("being left out before the channel", audience: "all roster:7 -ann", is: .hidden(because: .leftOut)),
    Row(
      "the channel before the subscription", audience: "subscribed roster:7",
      is: .hidden(because: .notInChannel)),
  ]

  @Test(arguments: rows)
  func whetherAndWhy(row: Row) throws {
    var membership = Membership(
      intervals: Intervals([Interval(after: 10, through: 50), Interval(after: 70)]))
    row.change(&membership)
    let verdict = Visibility.of(
      row.id, try #require(Audience(text: row.audience)), type: row.type, isRecalled: row.isRecalled,
      in: .server(1),
      for: "ann", membership: membership,
      read: row.read,
      preferences: Preferences(row.preferences), retentionFloor: row.floor, nowMilliseconds: 1_000)
    #expect(verdict == row.expected)
  }

  /// A recall of the entry, after any other change of it, is told to every account that may have the entry,
  /// and to nobody else.
  @Test(arguments: [
    ("all until:1", ReadState(), true), ("all", ReadState(), true), ("named +ann", ReadState(), true),
    ("all", ReadState(watermarks: [30]), false), ("named +bob", ReadState(), false),
    ("all -ann", ReadState(), false),
  ])
  func whoMayHaveIt(audience: String, read: ReadState, expected: Bool) throws {
    let isPerhapsShown = Visibility.isPerhapsShown(
      30, try #require(Audience(text: audience)), in: .server(1), for: "ann",
      membership: Membership(intervals: .since(10)), read: read, retentionFloor: .zero)
    #expect(isPerhapsShown == expected)
  }

  @Test func everyReasonIsReached() {
    let reached = Set(Self.rows.map(\.expected))
    let inclusions: [Visibility.Inclusion] = [.named, .openToAll, .subscribedBefore]
    let exclusions: [Visibility.Exclusion] = [
      .neverMember, .joinedAfter, .leftBefore, .leftSince, .leftOut, .notNamed, .notInChannel, .blocked,
      .stopped,
      .notSubscribed,
      .subscribedAfter, .subscriptionEndedBefore, .read, .recalled, .expired, .notWanted,
      .beyondRetention,
    ]
    #expect(
      reached
        == Set(inclusions.map { .visible(because: $0) } + exclusions.map { .hidden(because: $0) }))
  }
}
