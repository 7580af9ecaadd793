import BelfryBytes
import BelfryModel
import BelfryServer
import Glibc

extension Command {
  static let secretList = Command(
    name: "secret list", summary: "list the secrets in a data folder",
    detail:
      "Each secret is shown by its kid, which tokens name in their header. The secrets themselves are not shown.",
    options: [.dataFolder, .flag("json", "print one JSON value per line")],
    examples: [Example("secret list --data data", "which one signs, and which are still accepted")],
    run: { invocation in
      let signers = try invocation.changingSecrets { folder throws(StartError) in try folder.all() }
      let rows = signers.enumerated().map { ($1.kid.string, $0 == 0 ? "signs" : "accepted") }
      if invocation.printsJSON {
        for (kid, use) in rows {
          try invocation.print(["kid": .string(kid), "use": .string(use)] as JSONValue, [])
        }
      } else {
        var table = TextTable(["KID", "USE"])
        for (kid, use) in rows { table.add([kid, use]) }
        invocation.console.print(table)
      }
    })

  static let secretRotate = Command(
    name: "secret rotate", summary: "sign tokens with a new secret, and accept the old ones",
    detail: """
      Makes a secret in the data folder, waits until the broker accepts it, and then signs with it. Tokens \
      of the earlier secret stay valid until that secret is retired: retire it when the last of them has \
      expired. Streams stay open.
      """,
    options: [.dataFolder, .flag("json", "print one JSON value per line")],
    changesSomething: true,
    examples: [Example("secret rotate --data data", "takes a few seconds; no restart is needed")],
    run: { invocation in
      let old = try invocation.changingSecrets { folder throws(StartError) in try folder.signing().kid }
      let new = try invocation.changingSecrets { folder throws(StartError) in try folder.addNext() }
      try await Task.sleep(for: SecretFolder.settlingTime)
      try invocation.changingSecrets { folder throws(StartError) in try folder.sign(with: new) }
      try invocation.print(
        ["signing": .string(new.string), "accepted": .string(old.string)] as JSONValue,
        ["\(new) signs from now on, and \(old) stays accepted. To end that:"]
          + [SecretOwner.current.command("secret retire \(old) --data \(invocation.dataFolder)")])
    })

  static let secretRetire = Command(
    name: "secret retire", summary: "stop accepting a secret",
    detail: "Its tokens are refused within seconds, and streams that were opened with them are ended.",
    operands: [
      Operand(
        name: "KID", meaning: "the secret's kid, as belfry secret list shows it",
        codeLength: SecretFolder.kidLength)
    ],
    options: [.dataFolder, .yes, .flag("json", "print one JSON value per line")],
    changesSomething: true,
    examples: [
      Example(
        "secret retire 3vXw0aQz --data data", "after a rotation, or when others have learned the secret"),
      Example("secret retire 3vXw0aQz --data data --yes", "in a script, where nobody can be asked"),
    ],
    run: { invocation in
      let kid = UTF8Text(invocation.arguments.operands.first ?? "")
      try invocation.confirm("Retire \(kid) for good, and refuse all tokens that it has signed?")
      try invocation.changingSecrets { folder throws(StartError) in try folder.retire(kid) }
      try invocation.print(["retired": .string(kid.string)] as JSONValue, ["\(kid)  retired"])
    })
}

/// The user who owns a folder of secrets. No other user can read them.
struct SecretOwner {
  let name: String
  let loginShell: String

  /// The user of this process. Without a name and a shell if the system knows no such user.
  static var current: SecretOwner {
    guard let user = unsafe getpwuid(geteuid()), let name = unsafe user.pointee.pw_name,
      let shell = unsafe user.pointee.pw_shell
    else { return SecretOwner(name: "", loginShell: "") }
    return unsafe SecretOwner(name: String(cString: name), loginShell: String(cString: shell))
  }

  /// The line that an operator types to run a command as this user. Nobody can log in as the user of a service,
  /// so the operator is root and needs `runuser`.
  func command(_ words: String) -> String {
    let isService = !name.isEmpty && ["nologin", "false"].contains(loginShell.split(separator: "/").last)
    return VisibleText.of((isService ? "runuser -u \(name) -- " : "") + "belfry \(words)")
  }
}

extension Invocation {
  fileprivate func changingSecrets<Result>(
    _ change: (SecretFolder) throws(StartError) -> Result
  ) throws -> Result {
    do throws(StartError) {
      return try change(SecretFolder(inDataFolder: dataFolder))
    } catch {
      throw CommandFailure(error)
    }
  }
}
