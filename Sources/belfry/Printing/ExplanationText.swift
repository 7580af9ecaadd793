import BelfryClient
import BelfryModel
import FoundationEssentials

/// Why an account sees a notification or does not, in sentences for a person.
enum ExplanationText {
  static func lines(
    _ explanation: Explanation, _ message: MessageID, _ account: AccountID, in zone: TimeZone,
    columnsLimit: Int? = nil
  ) -> [String] {
    var facts = Facts(values: explanation.facts, zone: zone)
    let verb = explanation.visible ? "sees" : "does not see"
    let sentences = [
      "\(account) \(verb) \(message): \(continuing(explanation.detail, account))", facts.sending(),
      facts.belonging(account),
    ]
    // Facts that a newer broker adds are shown as well as possible.
    let rest = TextTable.aligned(FactText.rows(facts.values, in: zone))
    return sentences.compactMap { $0.map(VisibleText.of) }.flatMap { sentence in
      columnsLimit.map { WrappedText.lines(sentence, columnsLimit: $0) } ?? [sentence]
    } + rest
  }

  /// A sentence behind a colon. It may begin with the name of the account, which stays as it is.
  private static func continuing(_ sentence: String, _ account: AccountID) -> String {
    sentence.hasPrefix("\(account) ") ? sentence : sentence.loweringFirst
  }

  /// The facts that have not been put into a sentence yet.
  private struct Facts {
    var values: JSONObject
    let zone: TimeZone

    mutating func sending() -> String? {
      guard let time = time("sentAt") else { return nil }
      // If the notification is not kept any more, only its id tells when it was sent.
      guard let place = text("space") else { return "Its id says that it was sent at \(time)." }
      let audience =
        text("audience").map { text in
          ", with the audience \"\(text)\"" + (ExplanationText.meaning(of: text).map { ": " + $0 } ?? "")
        } ?? ""
      return "It was sent at \(time) to \(ExplanationText.place(place))\(audience)."
    }

    mutating func belonging(_ account: AccountID) -> String? {
      var parts: [String] = []
      switch (time("memberSince"), time("memberUntil")) {
      case (let since?, nil): parts.append("has been a member since \(since)")
      case (let since?, let until?): parts.append("was a member from \(since) until \(until)")
      case (nil, let until?): parts.append("was a member until \(until)")
      case (nil, nil): break
      }
      if let isSubscribed = flag("subscribed") {
        parts.append(isSubscribed ? "is subscribed" : "is not subscribed")
      }
      if let isNamed = flag("named") { parts.append(isNamed ? "is named in it" : "is not named in it") }
      if let isRead = flag("read") { parts.append(isRead ? "has marked it read" : "has not marked it read") }
      guard let last = parts.popLast() else { return nil }
      return "\(account) " + (parts.isEmpty ? last : parts.joined(separator: ", ") + " and " + last) + "."
    }

    private mutating func text(_ name: String) -> String? {
      guard case .string(let text)? = values[name] else { return nil }
      values[name] = nil
      return text
    }

    private mutating func flag(_ name: String) -> Bool? {
      guard case .bool(let flag)? = values[name] else { return nil }
      values[name] = nil
      return flag
    }

    private mutating func time(_ name: String) -> String? {
      guard case .integer(let time)? = values[name] else { return nil }
      values[name] = nil
      return TimeText.of(unixMilliseconds: time, in: zone)
    }
  }

  /// A space by its key: `server:12` is server 12.
  private static func place(_ key: String) -> String {
    guard let space = SpaceID(key: key) else { return key }
    return switch space.kind {
    case .server, .group, .room: "\(space.kind.rawValue) \(space.name)"
    case .account: "\(space.name) alone"
    case .direct: "accounts by name"
    }
  }

  /// An audience in words. Nil if this version knows no such audience.
  static func meaning(of text: String) -> String? {
    guard let audience = Audience(text: text) else { return nil }
    let channel = audience.channel.map { " of channel \($0)" } ?? ""
    let named = list(audience.named)
    let meant =
      switch audience.rule {
      case .all: "for all members\(channel)"
      case .subscribed: "for subscribers\(channel)"
      case .willing: "for members who have not stopped receiving custom notifications"
      case .viewers: "for all accounts that see channel \(audience.channel?.text ?? "")"
      case .named: "for \(named)"
      // No entry has it.
      case .byThreshold: "for all members\(channel), or in a large server only for subscribers"
      }
    let also = audience.rule == .named || named.isEmpty ? "" : ", and for \(named)"
    let except = list(audience.except)
    let inside = audience.isMomentary ? ", while inside" : ""
    return meant + inside + also + (except.isEmpty ? "" : ", but not for \(except)")
  }

  /// An entry may name a thousand accounts, which would push all else off the screen.
  private static func list(_ accounts: some Collection<AccountID>) -> String {
    let most = 20
    let names = accounts.prefix(most).map(\.text).joined(separator: ", ")
    return accounts.count > most ? "\(names) and \(accounts.count - most) others" : names
  }
}
