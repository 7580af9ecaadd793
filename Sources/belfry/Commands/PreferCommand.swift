import BelfryClient
import BelfryModel

extension Command {
  static let prefer = Command(
    name: "account prefer", summary: "set an account's notification preferences",
    detail: """
      Sets the preference for one space (--space), for some types (--type), or for some types in one space. \
      Without --space and --type, it sets the preference for everything. It replaces the earlier preference for the \
      same space and types; all others stay. belfry account preferences shows all of them.
      """,
    options: [
      .value(
        "space", "SPACE",
        "the space, such as server:7, group:9 or room:3, or account: and your own name for direct messages; "
          + "everywhere by default"),
      CommandOption.list("type", "TYPE", "only these types, by code or name; all by default").setting(
        "types"),
      .choice(
        "level", AccountPreference.Level.allCases.map(\.rawValue),
        "all, parties (only notifications that name the account or are about it) or none"),
      .value("until", "TIME", "when the preference ends: \(TimeText.inputRule(.ahead))"),
      .flag("forget", "remove the preference for the same space and types")
        .withNamesElsewhere("clear", "remove", "reset"),
    ] + CommandOption.connection,
    changesSomething: true,
    examples: [
      Example(
        "account prefer --space server:12 --level parties", "from server 12, only notifications about me"),
      Example(
        "account prefer --type serverUpdate,serverMemberUpdate --level none",
        "nothing about changed settings and members of servers"),
      Example("account prefer --space server:12 --forget", "everything of server 12 again"),
    ],
    run: { invocation in
      let preference = try invocation.preference
      let client = try invocation.client()
      var all = try await client.preferences()
      let countBefore = all.count
      all.removeAll { $0.space == preference.space && $0.types == preference.types }
      let isForgotten = invocation.arguments.isSet("forget")
      guard !isForgotten || all.count < countBefore else {
        throw CommandFailure(
          code: "notFound", detail: "there is no preference for this space and these types",
          advice: "belfry account preferences lists those that there are")
      }
      if !isForgotten { all.append(preference) }
      try await client.setPreferences(all)
      // A user who sees when it ends notices a wrong zone, and a date that was meant with its whole day.
      let end = preference.until.map {
        ", ends \(TimeText.withOffset(unixMilliseconds: $0, in: invocation.console.timeZone))"
      }
      let done = isForgotten ? "preference removed" : "preference set" + (end ?? "")
      try invocation.print(["done": true] as JSONValue, ["\(done): \(all.count) in total"])
    })
}

extension Invocation {
  fileprivate var preference: AccountPreference {
    get throws {
      if let space = arguments.text("space"), space.allSatisfy(\.isNumber) {
        throw UsageError(
          "--space must name the kind of the space, not only its id", suggestion: "--space server:\(space)")
      }
      let words = arguments.list("type")
      let types = try words.map { word in
        guard let code = Int(word) ?? NotificationText.code(ofTypeNamed: word) else {
          throw UsageError.noType(word, givenAs: "--type")
        }
        return code
      }
      var level = AccountPreference.Level.all
      if let word = arguments.text("level") {
        level = AccountPreference.Level(rawValue: word) ?? level
      } else if !arguments.isSet("forget") {
        throw UsageError("--level or --forget is needed")
      }
      return AccountPreference(
        space: arguments.text("space"), types: types.isEmpty ? nil : types, level: level,
        until: try arguments.comingTime("until"))
    }
  }
}
