import BelfryInterface
import Foundation

/// Lengths of time as people read them: `7 d`, `1 h 30 min`.
enum DurationText {
  static func of(milliseconds: Int) -> String {
    let units = [("d", 86_400_000), ("h", 3_600_000), ("min", 60_000), ("s", 1_000), ("ms", 1)]
    var left = milliseconds
    var parts: [String] = []
    for (name, length) in units where left >= length {
      parts.append("\(left / length) \(name)")
      left %= length
    }
    return parts.isEmpty ? "0 ms" : parts.joined(separator: " ")
  }

  /// The forms of a length of time that somebody gives.
  static let inputRule = inputRule(examples: "90s, 90m, 24h or 7d")

  /// The same with the bounds, and with examples that lie between them.
  static func inputRule(within range: ClosedRange<Int>) -> String {
    let examples = ["30s", "5m", "24h"].filter { seconds(of: $0).map(range.contains) == true }
    let bounds = "between \(range.lowerBound) s and \(of(milliseconds: range.upperBound * 1_000))"
    return "\(inputRule(examples: examples.joined(separator: " or "))), \(bounds)"
  }

  private static func inputRule(examples: String) -> String {
    "a duration such as \(examples), or a number of seconds"
  }
  private static let unitSeconds: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]
  private static let countMax = 1_000_000_000

  /// A length of time in the form in which somebody gives it, in the largest unit without a rest.
  static func input(seconds: Int) -> String {
    let units = unitSeconds.sorted { $0.value > $1.value }
    guard let unit = units.first(where: { seconds.isMultiple(of: $0.value) }) else { return "\(seconds)s" }
    return "\(seconds / unit.value)\(unit.key)"
  }

  /// - Returns: nil where the text is no length of time.
  static func seconds(of text: String) -> Int? {
    let unit = text.last.flatMap { unitSeconds[$0] }
    guard let count = Int(unit == nil ? text[...] : text.dropLast()), (0...countMax).contains(count) else {
      return nil
    }
    return count * (unit ?? 1)
  }
}

extension TimeZone {
  /// The value of `TZ` if Foundation knows no such zone. It then takes another one without a word, mostly UTC. Unlike
  /// the system's library, it takes no path and no name after a colon.
  static func unknownName(in environment: [String: String]) -> String? {
    guard let name = environment["TZ"], !name.isEmpty else { return nil }
    let isKnown = TimeZone(identifier: name) != nil || TimeZone(abbreviation: name) != nil
    return isKnown ? nil : name
  }
}

/// Times as people read them: `2026-01-09 18:02:11`, in their own zone.
enum TimeText {
  static func of(unixMilliseconds: Int64, in timeZone: TimeZone) -> String {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = timeZone
    let date = Date(timeIntervalSince1970: Double(unixMilliseconds) / 1_000)
    let parts = calendar.dateComponents([.year, .month, .day, .hour, .minute, .second], from: date)
    return padded(parts.year, 4) + "-" + padded(parts.month, 2) + "-" + padded(parts.day, 2) + " "
      + padded(parts.hour, 2) + ":" + padded(parts.minute, 2) + ":" + padded(parts.second, 2)
  }

  /// The same with the offset from UTC: `2026-12-24 18:00:00 +01:00`.
  static func withOffset(unixMilliseconds: Int64, in timeZone: TimeZone) -> String {
    let date = Date(timeIntervalSince1970: Double(unixMilliseconds) / 1_000)
    let minutes = timeZone.secondsFromGMT(for: date) / 60
    let offset = padded(abs(minutes) / 60, 2) + ":" + padded(abs(minutes) % 60, 2)
    return of(unixMilliseconds: unixMilliseconds, in: timeZone) + (minutes < 0 ? " -" : " +") + offset
  }

  /// The direction in which a length of time counts that is given in place of a time: `7d` is a week ago or in a week.
  enum Direction: Sendable {
    case ago, ahead
  }

  /// The forms of a time that somebody gives.
  static func inputRule(_ direction: Direction) -> String {
    let now = direction == .ago ? "ago" : "from now"
    return
      "a time (\"2026-12-24 18:00\" in the local zone, or 2026-12-24T18:00+01:00; a date alone means the beginning of that day), "
      + "a duration (90m, 24h or 7d \(now)), or milliseconds since 1970"
  }

  /// - Parameter zone: the zone of a time without an offset from UTC.
  /// - Returns: nil where the text is no time.
  static func unixMilliseconds(
    of text: String, _ direction: Direction, now: Date, in zone: TimeZone = .current
  ) -> Int64? {
    // Any smaller number is a mistake, except for 0, the beginning of everything.
    if let number = Int64(text) { return number == 0 || number >= numberMin ? number : nil }
    if let time = date(of: text, in: zone) { return Int64((time.timeIntervalSince1970 * 1_000).rounded()) }
    guard text.last?.isLetter == true, let seconds = DurationText.seconds(of: text) else { return nil }
    let length = Int64(seconds) * 1_000
    return max(0, Int64(now.timeIntervalSince1970 * 1_000) + (direction == .ago ? -length : length))
  }

  /// A smaller number probably means seconds.
  private static let numberMin = SharedFields.earliestMilliseconds
  /// Ten years. A number of so many seconds is a length of time, and a larger one a time.
  private static let lengthSecondsMax: Int64 = 315_360_000

  /// Why a text that looks like a time is none, and how the time that was probably meant is given. Nil if the text looks
  /// like no time.
  static func flaw(of text: String, in zone: TimeZone = .current) -> (reason: String, meant: String?)? {
    if let number = Int64(text), 0 < number, number < numberMin {
      let meant =
        number < lengthSecondsMax
        ? DurationText.input(seconds: Int(number))
        : Date(timeIntervalSince1970: Double(number)).formatted(.iso8601)
      return (
        "a bare number means milliseconds since 1970, and \(text) lies before 2001. Add a unit, or write a date with a time",
        meant
      )
    }
    guard text.wholeMatch(of: form) != nil, date(of: text, in: zone) == nil else { return nil }
    let isSkipped = date(of: text, in: .gmt) != nil
    return ("there is no \(text)" + (isSkipped ? ": the clocks in \(zone.identifier) skip it" : ""), nil)
  }

  private static var form: Regex<(Substring, Substring, Substring?, Substring?, Substring?)> {
    #/(\d{4}-\d\d-\d\d)(?:[T ](\d\d:\d\d)(:\d\d(?:\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?/#
  }

  /// A time of ISO 8601, or one as tables show it. Seconds may be left out, and may have a fraction. A day means its
  /// beginning.
  private static func date(of text: String, in zone: TimeZone) -> Date? {
    guard let found = text.wholeMatch(of: form) else { return nil }
    guard let time = found.2 else { return beginning(ofDay: found.1, in: zone) }
    let seconds = found.3 ?? ":00"
    let style = Date.ISO8601FormatStyle(includingFractionalSeconds: seconds.contains("."))
    let date = try? Date("\(found.1)T\(time)\(seconds)\(found.4 ?? "Z")", strategy: style)
    guard found.4 == nil, let date else { return date }
    return moved(date, to: zone, shownAs: "\(found.1) \(time)")
  }

  /// Not 00:00, which the clocks of some zones skip once a year.
  private static func beginning(ofDay day: Substring, in zone: TimeZone) -> Date? {
    var calendar = Calendar(identifier: .gregorian)
    calendar.timeZone = zone
    guard let noon = try? Date("\(day)T12:00:00Z", strategy: .iso8601) else { return nil }
    return moved(noon, to: zone, shownAs: "\(day) 12:00").map(calendar.startOfDay)
  }

  /// The moment at which clocks in the zone show what they show in UTC at the date given. Nil if they skip that time, or if
  /// the day does not exist.
  private static func moved(_ date: Date, to zone: TimeZone, shownAs text: String) -> Date? {
    // Near a change of the clocks the first guess may have the offset of the other side.
    let guess = date.addingTimeInterval(-Double(zone.secondsFromGMT(for: date)))
    let moment = date.addingTimeInterval(-Double(zone.secondsFromGMT(for: guess)))
    let milliseconds = Int64((moment.timeIntervalSince1970 * 1_000).rounded())
    return of(unixMilliseconds: milliseconds, in: zone).hasPrefix(text) ? moment : nil
  }

  /// The text with each time of ISO 8601 in UTC, as brokers write it, replaced by the time in the zone.
  static func localized(_ text: String, in zone: TimeZone) -> String {
    text.replacing(#/\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z/#) { match in
      unixMilliseconds(of: String(match.output), .ago, now: Date(), in: zone)
        .map { of(unixMilliseconds: $0, in: zone) } ?? String(match.output)
    }
  }

  private static func padded(_ number: Int?, _ digits: Int) -> String {
    let text = String(number ?? 0)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
  }
}
