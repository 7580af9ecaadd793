import Glibc

/// The streams of the process that are terminals, and their properties.
struct Terminal: Sendable, Hashable {
  /// The width of standard output, in columns; nil if it is not a terminal, and nothing is cut to fit.
  var columns: Int?
  /// True if standard output shows colours.
  var showsColor = false
  /// The width of standard error; nil if it is not a terminal, or one on which a line cannot be overwritten.
  var progressColumns: Int?
  /// True if there is somebody to ask: standard input and standard error are both a terminal.
  var canAsk = false

  /// The width that is assumed for a terminal that does not know its width.
  private static let standardColumns = 80

  /// No terminal anywhere, as in a pipe.
  init() {}

  /// The terminal of this process.
  init(environment: [String: String]) {
    // The convention (no-color.org) is that any value except an empty one asks for no colour.
    let isPlain = environment["NO_COLOR"]?.isEmpty == false || environment["TERM"] == "dumb"
    let outputIsTerminal = isatty(STDOUT_FILENO) == 1
    let errorIsTerminal = isatty(STDERR_FILENO) == 1
    if outputIsTerminal { columns = Self.width(of: STDOUT_FILENO, environment) }
    showsColor = outputIsTerminal && !isPlain && environment["TERM"]?.isEmpty == false
    if errorIsTerminal, environment["TERM"] != "dumb" {
      progressColumns = Self.width(of: STDERR_FILENO, environment)
    }
    canAsk = errorIsTerminal && isatty(STDIN_FILENO) == 1
  }

  private static func width(of descriptor: Int32, _ environment: [String: String]) -> Int {
    if let columns = environment["COLUMNS"].flatMap({ Int($0) }), columns > 0 { return columns }
    var size = winsize()
    guard unsafe ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else {
      return standardColumns
    }
    return Int(size.ws_col)
  }
}
