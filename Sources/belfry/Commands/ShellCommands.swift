extension Command {
  static let completions = Command(
    name: "completions", summary: "print completions for a shell",
    detail: """
      A script for the shell to read: eval "$(belfry completions bash)" in ~/.bashrc; for zsh into a file _belfry in a \
      folder of $fpath; for fish into ~/.config/fish/completions/belfry.fish.
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
    detail: "In the format of man(7), for man -l or for a file belfry.1 in a folder man1 of $MANPATH.",
    examples: [Example("man", "the page, to put into a file")],
    run: { invocation in invocation.console.print(ManualPage.lines(.belfry)) })
}
