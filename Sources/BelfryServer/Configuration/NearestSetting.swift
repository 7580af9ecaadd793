import BelfryBytes

// Finds the setting that somebody who wrote an unknown name probably meant. A suggestion that is far-fetched is
// worse than none. So each rule needs exactly one setting that fits, and the surest rule comes first.

extension Setting {
  /// The key that an unknown name probably means.
  /// - Parameter prefix: the prefix of the object in the file, such as `limits.`; empty outside of objects.
  static func nearestKey(to name: String, under prefix: String) -> String? {
    // The keys of the same object come first. If a key of another object is meant, the name may be right but
    // in the wrong place.
    let inObject = all.filter { $0.key.utf8.starts(with: prefix.utf8) && $0.key == prefix + $0.lastWord }
    let elsewhere = all.filter { setting in !inObject.contains { $0.key == setting.key } }
    let keys = inObject + elsewhere
    let lastWords = keys.map(\.lastWord) + (prefix.isEmpty ? objects.map(\.string).sorted() : [])
    if let word = NearestWord.to(name, among: lastWords) {
      return keys.first { $0.lastWord == word }?.key ?? word
    }
    guard name.utf8.count <= comparedNameBytesMax else { return nil }
    let typed = words(of: prefix + name)
    let setting = continuation(of: typed) ?? settingWith(run: typed) ?? mostAlike(to: typed)
    return setting?.key ?? (prefix.isEmpty ? objectAlike(to: typed) : nil)
  }

  /// The variable that an unknown name probably means.
  ///
  /// If the name is the beginning of a setting's name, or begins with one, that setting is a better guess
  /// than a name that looks similar: `BELFRY_PUSH_DELAY` means `BELFRY_PUSH_DELAY_MILLISECONDS`, and
  /// `BELFRY_REDIS_URL` means `BELFRY_REDIS`.
  static func nearestVariable(to name: String) -> String? {
    if let ours = namesElsewhere[name] { return ours }
    guard name.utf8.count <= comparedNameBytesMax else { return nil }
    let typed = words(of: String(name.dropFirst(variablePrefix.count)))
    if let written = continuation(of: typed) { return written.variable }
    let mistyped = all.first { NearestWord.distance(Array(name), Array($0.variable)) <= mistypedMax }
    if let mistyped { return mistyped.variable }
    if let inside = settingWith(run: typed) { return inside.variable }
    let shorter = variables.filter { name.hasPrefix($0 + "_") }
    if let nearest = shorter.max(by: { $0.count < $1.count }) { return nearest }
    return mostAlike(to: typed)?.variable ?? similarVariable(to: name)
  }

  /// The variable that looks similar. The common beginning is left out, `BELFRY_` or that of the object: with
  /// it, any two short names would look similar.
  private static func similarVariable(to name: String) -> String? {
    let beginning = objectVariablePrefixes.first { name.hasPrefix($0) } ?? variablePrefix
    let ends = all.map(\.variable).filter { $0.hasPrefix(beginning) }.map { $0.dropFirst(beginning.count) }
    return NearestWord.to(String(name.dropFirst(beginning.count)), among: ends.map { String($0) })
      .map { beginning + $0 }
  }

  private var lastWord: String { key.parts(between: ".").last.map { String($0) } ?? key }

  /// The most wrong letters in a name that still counts as mistyped.
  private static let mistypedMax = 2

  /// Names that people try who know other products.
  private static let namesElsewhere = ["BELFRY_PORT": "BELFRY_LISTEN", "BELFRY_HOST": "BELFRY_LISTEN"]
}

// MARK: - By words

extension Setting {
  /// A name of more bytes is compared with none. It is hardly a mistyped one, and its words would take time that
  /// grows with the square of their length.
  private static let comparedNameBytesMax = 128

  private static let settingsByWords = all.map { (setting: $0, words: words(of: $0.key)) }

  /// A shorter text is the beginning of too many words. A longer one is hardly a mistyped name, and comparing it
  /// would take time.
  private static let comparedLengths = 3...64

  /// The words of a key, or of a variable without its prefix, in lower case: `tls`, `certificate`, `file`.
  private static func words(of name: String) -> [String] {
    var words = [""]
    var isAfterSmallLetter = false
    for character in name {
      if "._-".contains(character) || (character.isUppercase && isAfterSmallLetter) { words.append("") }
      if !"._-".contains(character) { words[words.count - 1] += character.lowercased() }
      isAfterSmallLetter = character.isLowercase
    }
    return words.filter { !$0.isEmpty }
  }

  private static func only(where isMeant: ([String]) -> Bool) -> Setting? {
    let found = settingsByWords.filter { isMeant($0.words) }
    return found.count == 1 ? found[0].setting : nil
  }

  /// The setting whose name goes on after the text, or is abbreviated by it: `embeddedRedis.maxmemory`,
  /// `tls.certFile`.
  private static func continuation(of typed: [String]) -> Setting? {
    let text = typed.joined()
    guard comparedLengths.contains(text.count) else { return nil }
    return only { $0.joined().hasPrefix(text) } ?? only { isAbbreviation(text, of: $0.joined()) }
  }

  /// True if letters were left out, but not the first one, and no more than half.
  private static func isAbbreviation(_ text: String, of name: String) -> Bool {
    guard text.first == name.first, text.count * 2 >= name.count else { return false }
    var rest = text[...]
    for character in name where character == rest.first { rest.removeFirst() }
    return rest.isEmpty
  }

  /// The setting that has the text inside its name, from the beginning of a word. Perhaps the name of its object
  /// was left out: `retention`.
  private static func settingWith(run typed: [String]) -> Setting? {
    let text = typed.joined()
    guard comparedLengths.contains(text.count) else { return nil }
    return only { words in words.indices.contains { words[$0...].joined().hasPrefix(text) } }
  }

  /// The setting that has more words in common with the name than any other one, and at least half of the
  /// name's words.
  private static func mostAlike(to typed: [String]) -> Setting? {
    let typed = typed.filter { !unspecificWords.contains($0) && $0.count <= comparedLengths.upperBound }
    let scored = settingsByWords.map { candidate in
      (
        setting: candidate.setting,
        score: typed.count { word in candidate.words.contains { areAlike(word, $0) } }
      )
    }
    guard let most = scored.map(\.score).max(), most > 0, most * 2 >= typed.count else { return nil }
    let best = scored.filter { $0.score == most }
    return best.count == 1 ? best[0].setting : nil
  }

  /// The object that has a word like one of the name's: several settings of it may be meant.
  private static func objectAlike(to typed: [String]) -> String? {
    let alike = objects.map(\.string).filter { object in
      words(of: object).contains { word in typed.contains { areAlike($0, word) } }
    }
    return alike.count == 1 ? alike[0] : nil
  }

  /// Words that many settings have, so that they point to none.
  private static let unspecificWords: Set<String> = [
    "milliseconds", "seconds", "bytes", "file", "path", "per", "max", "min",
  ]

  /// The fewest letters at the beginning of two words that make them alike.
  private static let alikeMin = 4

  /// True for equal words, for the beginning of a word, and for words that share their first half: `durable` and
  /// `durability`.
  private static func areAlike(_ left: String, _ right: String) -> Bool {
    if left == right { return true }
    let shared = zip(left, right).prefix { $0 == $1 }.count
    let (shorter, longer) = (min(left.count, right.count), max(left.count, right.count))
    return shared >= alikeMin && (shared == shorter || shared * 2 >= longer)
  }
}
