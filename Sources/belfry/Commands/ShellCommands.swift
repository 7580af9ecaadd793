extension Command {
  static let completions = Command(
    name: "completions", summary: "print completions for a shell",
    detail: """
      Prints a script for the shell. For bash, put eval "$(belfry completions bash)" into ~/.bashrc. For zsh, write the \
      output to a file _belfry in a folder of $fpath. For fish, write it to ~/.config/fish/completions/belfry.fish.
      """,
    operands: [
      Operand(
        name: "SHELL", meaning: "bash, zsh or fish", choices: Shell.allCases.map(\.rawValue))
    ],
    examples: [
      Example("completions bash", "the Tab key completes commands, options and their values"),
      Example("completions fish", "the same for fish"),
    ],
    run: { invocation in
      let shell = invocation.arguments.operands.first.flatMap { Shell(rawValue: $0) } ?? .bash
      invocation.console.print(shell.completions(for: .belfry))
    })

  static let man = Command(
    name: "man", summary: "print the manual page",
    detail: """
      Prints the page in the format of man(7). Show it with belfry man | man -l -, or write it to man1/belfry.1 in a \
      folder of $MANPATH.
      """,
    examples: [Example("man", "the page, to put into a file")],
    run: { invocation in invocation.console.print(ManualPage.lines(.belfry)) })
}
