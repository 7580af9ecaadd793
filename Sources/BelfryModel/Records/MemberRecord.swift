/// A role in a space; the letter is what the record holds.
public enum MemberRole: String, Sendable, Codable, CaseIterable {
  case owner, admin, member

  var letter: Character {
    switch self {
    case .owner: "o"
    case .admin: "a"
    case .member: "m"
    }
  }
}

/// One account in a space's roster, or (with its belonging ended) in the table of former members.
package struct MemberRecord: Sendable, Hashable {
  package var role: MemberRole
  package var standing: Standing

  package init(role: MemberRole, standing: Standing) {
    self.role = role
    self.standing = standing
  }
}

// MARK: - The record's text

// `m 1763700000000-4096` is a member since that stream id, and for nearly every one of a million members
// that is all: 24 bytes. Whatever else there is follows, a word each, so that a record stays readable in
// `redis-cli`:
//
//     a 1763700000000-4096 1763700000000-8192        an admin who has left
//     m 1763700000000-4096 s/1763700000000-8192      subscribed since
//     m 1763700000000-4096 c77/1763700000000-8192    in the roster of channel 77 since
//     m 1763700000000-4096 d77/1763700000000-8192    subscribed to channel 77 since
//
// An interval is `<after>` or `<after>,<through>`; intervals of one kind are joined by `;`.
extension MemberRecord {
  package var text: String {
    var words = [String(role.letter), standing.belonging.text]
    if !standing.subscription.isEmpty { words.append("s/" + standing.subscription.text) }
    for (id, channel) in standing.channels.sorted(by: { $0.key < $1.key }) {
      if !channel.belonging.isEmpty { words.append("c\(id.text)/" + channel.belonging.text) }
      if !channel.subscription.isEmpty { words.append("d\(id.text)/" + channel.subscription.text) }
    }
    return words.joined(separator: " ")
  }

  /// Nil when `text` is not a member record.
  package init?(text: String) {
    let words = text.split(separator: " ")
    guard words.count >= 2, let role = MemberRole.allCases.first(where: { String($0.letter) == words[0] }),
      let belonging = Intervals(text: words[1])
    else { return nil }
    self.init(role: role, standing: Standing(belonging: belonging))
    for word in words.dropFirst(2) {
      guard let slash = word.firstIndex(of: "/"),
        let intervals = Intervals(text: word[word.index(after: slash)...])
      else { return nil }
      let name = word[..<slash]
      if name == "s" {
        standing.subscription = intervals
        continue
      }
      guard let id = EntityID(name.dropFirst()) else { return nil }
      switch name.first {
      case "c": standing.channels[id, default: .init()].belonging = intervals
      case "d": standing.channels[id, default: .init()].subscription = intervals
      default: return nil
      }
    }
  }
}

extension Intervals {
  package var text: String {
    all.map { interval in
      interval.after.streamForm + (interval.through.map { "," + $0.streamForm } ?? "")
    }.joined(separator: ";")
  }

  /// Nil when `text` is not one interval or more. A record leaves out intervals that are none.
  package init?(text: some StringProtocol) {
    let parts = text.split(separator: ";", omittingEmptySubsequences: false)
    let intervals = parts.map { part -> Interval? in
      let ends = part.split(separator: ",", omittingEmptySubsequences: false)
      guard let first = ends.first, ends.count <= 2, let after = MessageID(streamForm: first) else {
        return nil
      }
      guard ends.count == 2 else { return Interval(after: after) }
      return MessageID(streamForm: ends[1]).map { Interval(after: after, through: $0) }
    }
    guard !intervals.contains(nil) else { return nil }
    self.init(intervals.compactMap(\.self))
  }
}
