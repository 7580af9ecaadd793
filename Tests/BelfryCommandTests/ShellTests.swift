import BelfryModel
import Foundation
import Testing

@testable import belfry

@Suite(.timeLimit(.minutes(2))) struct ShellTests {
  private let table = CommandTable.belfry

  private struct Finished {
    var code: Int32
    var out: String
    var err: String
  }

  /// Runs a program of this machine; nil if there is none of that name.
  private func run(_ name: String, _ words: [String], in folder: String = "/tmp", input: String? = nil) throws
    -> Finished?
  {
    let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "/usr/bin:/bin").split(separator: ":")
    guard let path = folders.map({ "\($0)/\(name)" }).first(where: FileManager.default.isExecutableFile)
    else { return nil }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: path)
    process.arguments = words
    process.currentDirectoryURL = URL(fileURLWithPath: folder)
    process.environment = ["PATH": folders.joined(separator: ":"), "LC_ALL": "C.UTF-8", "MANWIDTH": "80"]
    let (out, err) = (temporaryFile(), temporaryFile())
    defer { for file in [out, err] { try? FileManager.default.removeItem(atPath: file) } }
    process.standardOutput = FileHandle(forWritingAtPath: out)
    process.standardError = FileHandle(forWritingAtPath: err)
    process.standardInput = FileHandle.nullDevice
    try process.run()
    process.waitUntilExit()
    return Finished(
      code: process.terminationStatus, out: try String(contentsOfFile: out, encoding: .utf8),
      err: try String(contentsOfFile: err, encoding: .utf8))
  }

  private func temporaryFile(_ lines: [String] = [], _ suffix: String = "") -> String {
    let path = FileManager.default.temporaryDirectory.appendingPathComponent(
      "belfry-\(UUID().uuidString)\(suffix)"
    ).path
    _ = FileManager.default.createFile(
      atPath: path, contents: Data(lines.map { $0 + "\n" }.joined().utf8))
    return path
  }

  // MARK: bash

  /// The completions that a real bash offers when Tab is pressed after the words.
  private func offered(_ words: String..., in folder: String = "/tmp") throws -> [String] {
    let script = temporaryFile(Shell.bash.completions(for: table))
    defer { try? FileManager.default.removeItem(atPath: script) }
    let list = words.map { "'\($0)'" }.joined(separator: " ")
    let asking = """
      source \(script); COMP_WORDS=(belfry \(list)); COMP_CWORD=\(words.count); compopt() { :; }
      _belfry; printf '%s\\n' "${COMPREPLY[@]}"
      """
    let bash = try #require(try run("bash", ["--norc", "-u", "-c", asking], in: folder))
    #expect(bash.err.isEmpty, "\(bash.err)")
    return bash.out.split(separator: "\n").map(String.init)
  }

  @Test func `bash offers commands, and those of a group`() throws {
    #expect(try Set(["serve", "server", "version", "help"]).isSubset(of: offered("")))
    #expect(try offered("ser") == ["serve", "server"])
    #expect(try offered("server", "upd") == ["update"])
    #expect(try offered("help", "exit") == ["exit-codes"])
  }

  @Test func `bash offers options, and the values that they can have`() throws {
    #expect(try offered("send", "--bo") == ["--body"])
    #expect(try offered("channel", "create", "--na") == ["--name"])
    #expect(try offered("token", "--role", "") == ["user", "app", "operator"])
    #expect(try offered("channel", "create", "--type", "pr") == ["private"])
    #expect(try offered("send", "--body", "").isEmpty)
    #expect(try offered("completions", "z") == ["zsh"])
    #expect(try offered("frobnicate", "").isEmpty)
  }

  @Test func `bash offers files where files are meant`() throws {
    let folder = FileManager.default.temporaryDirectory.appendingPathComponent("belfry-\(UUID().uuidString)")
    try FileManager.default.createDirectory(
      at: folder.appendingPathComponent("some folder"), withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try Data().write(to: folder.appendingPathComponent("some.json"))
    #expect(try offered("serve", "--config", "so", in: folder.path).contains("some.json"))
    #expect(try !offered("serve", "--data", "so", in: folder.path).contains("some.json"))
    #expect(try offered("restore", "so", in: folder.path).contains("some.json"))
  }

  @Test func `each command's options are offered`() {
    let bash = Set(Shell.bash.completions(for: table))
    let fish = Shell.fish.completions(for: table).map { $0.split(separator: " -d ")[0] }
    let zsh = Shell.zsh.completions(for: table).joined(separator: "\n")
    for command in table.commands {
      let names = command.options.map(\.name) + ["help"]
      let words = (names.map { "--" + $0 } + command.operandWords).joined(separator: " ")
      #expect(bash.contains("  '\(command.name)') options='\(words)' ;;"))
      for name in names {
        #expect(fish.contains("complete -c belfry -n '__belfry_is \(command.name)' -l \(name)"))
        #expect(zsh.contains("--\(name)["))
      }
    }
  }

  @Test(arguments: [("zsh", "-n"), ("fish", "--no-execute")])
  func `other shells read theirs without complaint`(shell: String, check: String) throws {
    let shell = try #require(Shell(rawValue: shell))
    let script = temporaryFile(shell.completions(for: table))
    defer { try? FileManager.default.removeItem(atPath: script) }
    // Some machines do not have these shells.
    guard let read = try run(shell.rawValue, [check, script]) else { return }
    #expect(read.code == 0 && read.err.isEmpty, "\(read.err)")
  }

  // MARK: The manual page

  @Test func `the manual page tells of every command and every option`() {
    let page = ManualPage.lines(table)
    #expect(page.contains(".TH BELFRY 1 \"\" \"belfry \(BelfryVersion.text)\" \"User Commands\""))
    for section in ["NAME", "SYNOPSIS", "COMMANDS", "CONNECTION OPTIONS", "ENVIRONMENT", "EXIT STATUS"] {
      #expect(page.contains(".SH \(section)"))
    }
    for command in table.commands {
      let name = command.name.replacing("-", with: "\\-")
      #expect(page.contains { $0.hasPrefix(".SS \"belfry \(name)") }, "\(command.name)")
      for option in command.options {
        let form = "\\-\\-" + option.name.replacing("-", with: "\\-")
        #expect(page.contains { $0.hasPrefix(".B \(form)") }, "\(form)")
      }
    }
    // Otherwise the line would be a request to the formatter.
    for line in page where line.hasPrefix(".") {
      let request = line.prefix { $0 != " " }
      #expect(
        [".\\\"", ".TH", ".SH", ".SS", ".B", ".I", ".TP", ".PP", ".RS", ".RE", ".nf", ".fi", ".br"].contains(
          request),
        "\(line)")
    }
  }

  @Test func `man shows the page without a warning`() throws {
    let page = temporaryFile(ManualPage.lines(table), ".1")
    defer { try? FileManager.default.removeItem(atPath: page) }
    guard let shown = try run("man", ["--warnings", "-l", page]) else { return }
    #expect(shown.code == 0 && shown.err.isEmpty, "\(shown.err)")
    let text = shown.out.replacing(#/.\u{8}/#, with: "")
    #expect(text.contains("belfry - a notification queue"))
    #expect(text.contains("belfry server create"))
    #expect(text.contains("--live-only"))
  }

  @Test func `the commands print them`() throws {
    for shell in Shell.allCases {
      let outcome = try Executable(token: nil).run("completions", shell.rawValue)
      #expect(outcome.code == 0)
      #expect(outcome.out == shell.completions(for: table).joined(separator: "\n") + "\n")
    }
    #expect(try Executable(token: nil).run("man").out.contains(".SH NAME\nbelfry \\- "))
    #expect(try Executable(token: nil).run("completions", "basch").err.contains("perhaps: bash"))
  }
}
