/// The rule that says who may see an entry, decided when the entry is appended (DESIGN §2).
///
/// An audience is open to members by a rule, or to nobody by rule; beside the rule it names accounts who
/// always belong (named receivers, the parties of an event) and accounts who never do (an operator left
/// out of their own event). It never lists an open audience: an entry for a million members is as small
/// as one for three.
package struct Audience: Sendable, Hashable {
  package enum Rule: String, Sendable {
    /// Every member at the time of the entry.
    case all
    /// Of those, only who had subscribed by then.
    case subscribed
    /// Nobody but the accounts named.
    case named
    /// Not yet decided: `all` or `subscribed`, whichever the member count says in the very step that
    /// appends the entry. No entry in a log carries this.
    case byThreshold = "?"
  }

  package var rule: Rule
  /// The channel whose members or subscribers the rule speaks of; nil for the whole space.
  package var channel: EntityID?
  /// The channel keeps a roster of its own: belonging to the server is not enough.
  package var channelHasRoster: Bool
  /// Receive it by name, whatever the rule and without any subscription.
  package var named: [AccountID]
  /// Do not receive it, whatever the rule says.
  package var except: [AccountID]

  package init(
    _ rule: Rule, channel: EntityID? = nil, channelHasRoster: Bool = false,
    named: [AccountID] = [], except: [AccountID] = []
  ) {
    self.rule = rule
    self.channel = channel
    self.channelHasRoster = channelHasRoster
    self.named = named
    self.except = except
  }
}

// MARK: - The text that stands beside an entry

// Words separated by one space, readable in `redis-cli` and splittable in any language:
//
//     all                          every member
//     subscribed channel:77        members subscribed to channel 77
//     all roster:77 -carol         who belongs to channel 77's roster, less carol
//     subscribed +alice,bob        subscribers of the server, and alice and bob in any case
//     named +alice,bob             alice and bob
extension Audience {
  package var text: String {
    var words = [rule.rawValue]
    if let channel { words.append((channelHasRoster ? "roster:" : "channel:") + channel.text) }
    if !named.isEmpty { words.append("+" + named.map(\.text).joined(separator: ",")) }
    if !except.isEmpty { words.append("-" + except.map(\.text).joined(separator: ",")) }
    return words.joined(separator: " ")
  }

  /// Nil when `text` is not the audience of an entry: one that nobody can place, or whose threshold was
  /// never applied, is shown to nobody.
  package init?(text: some StringProtocol) {
    var words = text.split(separator: " ", omittingEmptySubsequences: false)[...]
    guard let first = words.popFirst(), let rule = Rule(rawValue: String(first)), rule != .byThreshold
    else { return nil }
    self.init(rule)
    for word in words {
      guard read(word: word) else { return nil }
    }
  }

  private mutating func read(word: some StringProtocol) -> Bool {
    if word.hasPrefix("+") || word.hasPrefix("-") {
      let accounts = word.dropFirst().split(separator: ",").map { AccountID(String($0)) }
      guard !accounts.contains(nil) else { return false }
      if word.hasPrefix("+") {
        named = accounts.compactMap(\.self)
      } else {
        except = accounts.compactMap(\.self)
      }
      return true
    }
    guard let colon = word.firstIndex(of: ":"), let id = EntityID(word[word.index(after: colon)...])
    else { return false }
    channel = id
    switch word[..<colon] {
    case "channel": channelHasRoster = false
    case "roster": channelHasRoster = true
    default: return false
    }
    return true
  }
}
