/// One word of a command, as it is typed in a shell.
enum ShellWord {
  static func quoted(_ word: String) -> String {
    word.contains { !$0.isLetter && !$0.isNumber && !"_.@-/:=,".contains($0) }
      ? "'" + word.replacing("'", with: "'\\''") + "'" : word
  }
}
