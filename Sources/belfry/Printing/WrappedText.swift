/// Text on lines of a terminal.
enum WrappedText {
  /// Begins each further line of an event, so that a text of others cannot imitate a line of the program's own there.
  private static let continuation = "  | "

  /// Breaks between words only. The terminal itself breaks a word that is longer than a line, and a link or an id can then
  /// still be copied whole.
  ///
  /// - Parameters:
  ///   - indent: begins the first line.
  ///   - hanging: begins each further line.
  static func lines(
    _ text: String, indent: String = "", hanging: String = "", columnsLimit limit: Int
  ) -> [String] {
    var lines: [String] = []
    for word in text.split(separator: " ") {
      if let line = lines.last, VisibleText.columns(line) + 1 + VisibleText.columns(String(word)) <= limit {
        lines[lines.count - 1] = line + " " + word
      } else {
        lines.append((lines.isEmpty ? indent : hanging) + word)
      }
    }
    return lines
  }

  /// The cells of an event, each in its colour: on one line in a pipe, and broken between words on a terminal.
  static func line(_ cells: [(text: String, color: Color?)], on console: Console) -> String {
    var line = ""
    var used = 0
    for (index, cell) in cells.enumerated() {
      let gap = index == 0 ? "" : "  "
      for piece in pieces(
        of: cell.text, startingAt: used, behind: gap, columnsLimit: console.terminal.columns)
      {
        line += piece.before + (cell.color.map { console.colored(piece.text, $0) } ?? piece.text)
        used = piece.end
      }
    }
    return line
  }

  private struct Piece {
    /// The space, or the break and the beginning of the next line.
    var before: String
    var text: String
    /// The number of columns that are used on the line behind it.
    var end: Int
  }

  private static func pieces(
    of text: String, startingAt start: Int, behind gap: String, columnsLimit limit: Int?
  ) -> [Piece] {
    guard let limit, start + gap.count + VisibleText.columns(text) > limit else {
      return [Piece(before: gap, text: text, end: start + gap.count + VisibleText.columns(text))]
    }
    var pieces: [Piece] = []
    for word in text.split(separator: " ") {
      let width = VisibleText.columns(String(word))
      if let piece = pieces.last, piece.end + 1 + width <= limit {
        pieces[pieces.count - 1].text += " " + word
        pieces[pieces.count - 1].end += 1 + width
      } else if pieces.isEmpty, start + gap.count + width <= limit {
        pieces.append(Piece(before: gap, text: String(word), end: start + gap.count + width))
      } else {
        let end = continuation.count + width
        pieces.append(Piece(before: "\n" + continuation, text: String(word), end: end))
      }
    }
    return pieces
  }
}
