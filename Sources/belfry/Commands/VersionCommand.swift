import BelfryModel

extension Command {
  static let version = Command(
    name: "version", summary: "print which Belfry this is",
    options: [.flag("json", "print one JSON value")],
    examples: [Example("version", "the same as belfry --version")],
    run: { invocation in
      try invocation.print(["version": BelfryVersion.text], ["belfry \(BelfryVersion.text)"])
    })
}
