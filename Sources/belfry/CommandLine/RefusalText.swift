import BelfryClient
import BelfryInterface
import Foundation

/// A broker's refusal in the words of the command line: options in place of fields, and times in the reader's zone.
struct RefusalText {
  let command: Command?
  let timeZone: TimeZone

  /// Many refusals of a field continue a sentence that begins with its name: "must be at most 4096 bytes".
  func sentence(_ error: BelfryError) -> String {
    let reason = error.callbackCode.map { " (the callback's code: \($0))" } ?? ""
    let detail = translated(error.detail) + reason
    guard let field = error.field.map(typed), !mayBeLeftOut(field) else { return detail }
    let verb = detail.prefix { $0 != " " }
    let goesOn = ["must", "is", "has", "are", "cannot", "needs", "stands"].contains { $0 == verb }
    return goesOn ? "\(field) \(detail)" : "\(detail) (\(field))"
  }

  /// Shows `url` as `--link`, `spaces[3]` as `--spaces[3]` and `preferences[0].until` as `--until`, but the field's own
  /// name if the command has no option for it.
  private func typed(_ field: String) -> String {
    let name = field.prefix { $0 != "[" && $0 != "." }
    if let word = word(for: String(name)) { return word + field.dropFirst(name.count) }
    // The lists were sent whole, and the reader wrote one element of them.
    let last = field.split(separator: ".").dropFirst().last?.prefix { $0 != "[" }
    return last.flatMap { word(for: String($0)) } ?? field
  }

  /// The option that sets a field, or the operand; nil if the command has neither.
  private func word(for field: String) -> String? {
    let name = Property.commandName(of: field)
    let options = command?.options ?? []
    let option = options.first { $0.field == field } ?? options.first { $0.name == name }
    if let option { return "--\(option.name)" }
    let words = [name.uppercased(), Self.operands[name]]
    return command?.operands.first { words.contains($0.name) }?.name
  }

  /// True for an operand that was probably not typed: its name would puzzle.
  private func mayBeLeftOut(_ word: String) -> Bool {
    command?.operands.contains { $0.name == word && !$0.isRequired } ?? false
  }

  /// Operands that have another name than the field.
  private static let operands = ["accids": "ACCID", "request": "INVITATION"]

  /// The same for a field in a sentence, perhaps with a value. A flag stands for the value as well: `setting.persistEnable
  /// false` is `--live-only`.
  private func word(for field: String, of text: Substring) -> String? {
    guard let word = word(for: field) else { return nil }
    let isFlag = command?.options.contains {
      if case .flag = $0.kind { "--\($0.name)" == word } else { false }
    }
    let value = text.split(separator: " ").dropFirst().first
    return isFlag == true ? word : ([word] + (value.map { [String($0)] } ?? [])).joined(separator: " ")
  }

  /// Fields are recognized by a capital in them: every other one could be an ordinary word.
  private func translated(_ detail: String) -> String {
    // A patch is what a callback answered, and has fields and no options.
    if detail.hasPrefix("patch ") { return detail }
    let text = detail.replacing(#/(?:setting\.)?([a-z]+[A-Z][A-Za-z]*)(?: (?:true|false))?/#) { match in
      word(for: String(match.1), of: match.0) ?? String(match.0)
    }
    // The command line takes times in other forms, too.
    return TimeText.localized(text.replacing(", in milliseconds since 1970", with: ""), in: timeZone)
  }
}
