internal import BelfryBytes

/// The rule that says who may see an entry, decided when the entry is appended.
///
/// A rule says which members see the entry. In addition the audience names accounts that see it in any case
/// (named receivers, the parties of an event) and accounts that never do (the actor of an event that leaves
/// the actor out). An audience that a rule describes is never listed, so an entry for a million members is as
/// small as one for three.
package struct Audience: Sendable, Hashable {
  package enum Rule: String, Sendable {
    /// Every member at the time of the entry.
    case all
    /// Every member at the time of the entry who had subscribed before it.
    case subscribed
    /// Every member at the time of the entry who had not stopped receiving custom notifications.
    case willing
    /// Every member who saw a private channel at the time of the entry, by its roster or its allow list. The
    /// owner and the admins, who see every channel, are named in addition to the rule.
    case viewers
    /// Only the accounts named.
    case named
    /// `all` or `subscribed`, decided by the member count in the step that appends the entry. No entry of a log has it.
    case byThreshold = "?"
  }

  package var rule: Rule
  /// True if the accounts that the rule describes are shown the entry only until they leave the space. With
  /// the rule `named` these are the accounts named. With other rules the accounts that are named as well are
  /// shown the entry in any case.
  package var isMomentary: Bool
  /// The time after which nobody is shown the entry, milliseconds since 1970; nil: it does not expire.
  package var expiresAt: Int64?
  /// The channel whose members or subscribers the rule describes; nil for the whole space.
  package var channel: EntityID?
  /// True if the channel keeps a roster of its own: belonging to the server is not enough.
  package var channelHasRoster: Bool
  /// The accounts that receive it by name, in addition to the rule and without any subscription.
  package var named: [AccountID]
  /// The accounts that do not receive it, even if the rule includes them.
  package var except: [AccountID]

  package init(
    _ rule: Rule, isMomentary: Bool = false, channel: EntityID? = nil, channelHasRoster: Bool = false,
    named: [AccountID] = [], except: [AccountID] = []
  ) {
    self.rule = rule
    self.isMomentary = isMomentary
    self.channel = channel
    self.channelHasRoster = channelHasRoster
    self.named = named
    self.except = except
  }
}

// MARK: - The text of an audience

// Words separated by one space, readable in `redis-cli` and splittable in any language:
//
//     all                          every member
//     subscribed channel:77        members subscribed to channel 77
//     all roster:77 -carol         who belongs to channel 77's roster, less carol
//     subscribed +alice,bob        subscribers of the server, and alice and bob in any case
//     willing                      members who have not stopped receiving custom notifications
//     viewers channel:77 +olivia   who sees private channel 77, and olivia, the owner
//     named +alice,bob             alice and bob
//     all until:1763700000000      every member, until then
//     all inside +lea              every member until that member leaves, and lea, who has just left
extension Audience {
  package var text: String {
    // Most audiences are the rule and nothing else.
    if channel == nil, named.isEmpty, except.isEmpty, expiresAt == nil, !isMomentary { return rule.rawValue }
    var words = [rule.rawValue]
    if isMomentary { words.append(Self.inside) }
    if let expiresAt { words.append("until:\(expiresAt)") }
    if let channel { words.append((channelHasRoster ? "roster:" : "channel:") + channel.text) }
    if !named.isEmpty { words.append("+" + named.map(\.text).joined(separator: ",")) }
    if !except.isEmpty { words.append("-" + except.map(\.text).joined(separator: ",")) }
    return words.joined(separator: " ")
  }

  package init?(text: some StringProtocol) { self.init(bytes: Array(text.utf8)[...]) }

  /// Nil if the bytes are not the audience of an entry, which is then shown to nobody. The parameter is bytes
  /// and not text, since every entry read and every live message has an audience.
  package init?(bytes: ArraySlice<UInt8>) {
    let end = bytes.firstIndex(of: UInt8(ascii: " ")) ?? bytes.endIndex
    let word = bytes.span.extracting(..<(end - bytes.startIndex))
    guard let rule = Self.rule(word) else { return nil }
    self.init(rule)
    // Most audiences are the rule and nothing else.
    if end == bytes.endIndex { return }
    var rest = bytes[(end + 1)...]
    while true {
      let end = rest.firstIndex(of: UInt8(ascii: " ")) ?? rest.endIndex
      guard read(word: rest[..<end]) else { return nil }
      if end == rest.endIndex { return }
      rest = rest[(end + 1)...]
    }
  }

  private static let inside = "inside"

  private static let rules = [Rule.all, .subscribed, .willing, .viewers, .named].map {
    (word: Array($0.rawValue.utf8), rule: $0)
  }

  private static func rule(_ text: Span<UInt8>) -> Rule? {
    for (word, rule) in rules where text.isEqual(to: word) { return rule }
    return nil
  }

  private mutating func read(word: ArraySlice<UInt8>) -> Bool {
    switch word.first {
    case UInt8(ascii: "+"):
      guard let accounts = Self.accounts(word.dropFirst()) else { return false }
      named = accounts
    case UInt8(ascii: "-"):
      guard let accounts = Self.accounts(word.dropFirst()) else { return false }
      except = accounts
    default:
      if word.elementsEqual(Self.inside.utf8) {
        isMomentary = true
        return true
      }
      guard let colon = word.firstIndex(of: UInt8(ascii: ":")) else { return false }
      if word[..<colon].elementsEqual("until".utf8) {
        expiresAt = Int64(digits: word[(colon + 1)...])
        return expiresAt != nil
      }
      guard let id = EntityID(String(decoding: word[(colon + 1)...], as: UTF8.self)) else {
        return false
      }
      channel = id
      channelHasRoster = word[..<colon].elementsEqual("roster".utf8)
      return channelHasRoster || word[..<colon].elementsEqual("channel".utf8)
    }
    return true
  }

  private static func accounts(_ list: ArraySlice<UInt8>) -> [AccountID]? {
    var accounts: [AccountID] = []
    var rest = list
    while !rest.isEmpty {
      let name = rest.take(before: UInt8(ascii: ","))
      // Two commas in a row have no name between them.
      if name.isEmpty { continue }
      guard let account = AccountID(String(decoding: name, as: UTF8.self)) else { return nil }
      accounts.append(account)
    }
    return accounts
  }
}
