import BelfryModel
import ModelSamples
import TestKit

/// One thing that somebody does. Accounts, servers and channels are numbers into the ``Cast``; an actor of
/// nil is a trusted caller.
indirect enum Step: Sendable {
  case createServer(Int, owner: Int)
  case updateServer(Int, by: Int?, name: String)
  case removeServer(Int, by: Int?)
  case addMembers(Int, by: Int?, [Int])
  case kick(Int, by: Int?, [Int])
  case leave(Int, Int)
  case subscribe(Int, channel: Int?, Int, Bool)
  case openChannel(Int, Int, by: Int?, ChannelRecord.Kind, ChannelRecord.Membership, [Int])
  case updateChannel(Int, Int, by: Int?, name: String)
  case closeChannel(Int, Int, by: Int?)
  case send(SendStep)
  /// Several at once.
  case batch([SendStep])
  /// Updates the one at this place in what the account sees.
  case update(Int, place: Int, by: Int?, body: String?, status: Int?)
  /// Recalls the one at this place in what the account sees.
  case recall(Int, place: Int, by: Int?)
  /// Marks those at these places in what the account sees.
  case read(Int, places: [Int])
  /// Marks everything so far by moving the watermark.
  case readUpToNow(Int)
  /// Moves the watermark to before everything, which must make nothing unread.
  case rewind(Int)
  /// Both decide on the same records; then one commits, then the other, or both in one call.
  case race(Step, Step, isTogether: Bool = false)
  /// Relays all changes that wait in any outbox.
  case relay
  case sweep(Int, account: Int)
  /// Postpones the space at this place among those that are to be looked at.
  case postpone(Int, Postponement)
  case command(CommandStep)
  /// Done by a broker that dies after so many writes: an operation, a relay, or a sweep.
  case death(Step, writes: Int)
  /// Done by brokers whose sends go by the function of all commits instead of those made for sends.
  case byCommit(Step)
}

enum Postponement: CaseIterable, Sendable {
  case forEver, untilLongAfter
  /// A broker postpones that saw another time.
  case tooLate
}

extension SeededGenerator {
  /// The steps of one random walk: first some servers with people in them, then anything.
  mutating func steps(_ count: Int) -> [Step] {
    var steps: [Step] = []
    for server in 0..<Cast.serverCount {
      steps += [
        .createServer(server, owner: server % 3), .addMembers(server, by: nil, numbers(4...6)),
        .openChannel(server, 1, by: server % 3, .public, server < 2 ? .everyone : .roster, []),
        .subscribe(server, channel: nil, server % 3, true),
      ]
    }
    for space in 0..<Cast.spacesPerScene {
      var group = command(Command.createGroup.description, space: space, by: space % 3)
      // Invited accounts join at once.
      group.isOn = false
      group.others = numbers(3...5)
      steps += [.command(group), .command(command(CreateRoom.name.description, space: space, by: space % 3))]
      for guest in numbers(2...4) {
        steps.append(.command(command(EnterRoom.name.description, space: space, by: guest)))
      }
    }
    var sent: [SendStep] = []
    while steps.count < count {
      if oneIn(20) { steps += oneIn(4) ? legacy() : story() } else { steps.append(step(&sent)) }
    }
    // In the end, a broker that is left relays the changes that the dead have left.
    return steps.prefix(count - 1) + [.relay]
  }

  /// One of the stories, and what somebody says about it there.
  private mutating func story() -> [Step] {
    let (story, space, channel) = (pick(Command.stories), below(Cast.spacesPerScene), channel())
    let steps = story.map { name in
      var step = command(name.description, space: space)
      step.isApt = true
      step.channel = channel
      return Step.command(step)
    }
    var send = SendStep(by: actor(), body: text(), isPersisted: true)
    switch story[0].scene {
    case .group: send.group = space
    case .room: send.room = space
    case .server, .channel, .any:
      send.server = space
      if story[0].scene == .channel { send.channel = channel }
    }
    return steps + [.send(send)]
  }

  /// A broker dies of whom something is left: accounts in other partitions have to learn that they are in, or
  /// out, or invited. Now and then another sweeps there before anybody relays it.
  private mutating func legacy() -> [Step] {
    let (server, accounts) = (server(), numbers(1...3))
    var invite = command(pick([InviteToServer.name, InviteToGroup.name]).description, space: server)
    (invite.isApt, invite.by) = (true, .owner)
    let steps: [Step] = [
      .addMembers(server, by: nil, accounts), .kick(server, by: nil, accounts), .command(invite),
    ]
    let death = Step.death(pick(steps), writes: 1 + below(4))
    return oneIn(2) ? [death, .sweep(server, account: number())] : [death]
  }

  private mutating func step(_ sent: inout [SendStep]) -> Step {
    switch below(30) {
    case 0..<5: .send(send(&sent))
    case 5, 6: .batch(batch(&sent))
    case 7..<9: markRead()
    case 9:
      oneIn(3)
        ? .recall(number(), place: below(100), by: actor())
        : .update(number(), place: below(100), by: actor(), body: text(), status: oneIn(2) ? 10_000 : nil)
    case 10, 11:
      if case .race(let first, let second, _) = race() {
        .race(first, second, isTogether: oneIn(2))
      } else {
        .relay
      }
    case 12: upkeep()
    case 13..<16: death(&sent)
    default: operation()
    }
  }

  private mutating func operation() -> Step {
    switch below(16) {
    case 0..<5: change()
    case 5..<7: .command(command(Command.ofServers))
    case 7..<9: .command(command(Command.ofChannels))
    case 9..<13: .command(command(Command.ofGroups))
    default: .command(command(Command.ofRooms))
    }
  }

  private mutating func upkeep() -> Step {
    switch below(3) {
    case 0: .relay
    case 1: sweep()
    default: .postpone(below(100), pick(Postponement.allCases))
    }
  }

  private mutating func sweep() -> Step { .sweep(server(), account: number()) }

  private mutating func death(_ sent: inout [SendStep]) -> Step {
    switch below(10) {
    // A commit, and seldom a few accounts to tell.
    case 0..<2: .death(.send(send(&sent)), writes: below(oneIn(3) ? 6 : 2))
    case 2: .death(.batch(batch(&sent)), writes: below(oneIn(3) ? 8 : 4))
    case 3: .death(.relay, writes: below(4))
    case 4: .death(sweep(), writes: below(10))
    default: .death(operation(), writes: oneIn(8) ? 0 : 1 + min(below(8), below(8)))
    }
  }

  /// Two that want the same: the same people, the last room in a server, the same words twice.
  private mutating func race() -> Step {
    let (server, account) = (server(), number())
    let rivals: [Step] = [
      say("left", account, server), .kick(server, by: nil, [account]), .leave(server, account),
      .subscribe(server, channel: nil, account, oneIn(2)), .addMembers(server, by: nil, [account]),
      .updateServer(server, by: nil, name: text()), .closeChannel(server, 1, by: nil),
    ]
    return switch below(5) {
    case 4: rivalry()
    case 0: .race(.addMembers(server, by: nil, numbers(1...2)), .addMembers(server, by: nil, numbers(1...2)))
    case 1: .race(open(server, 2), open(server, 3))
    case 2: .race(say("left", account, server), say(pick(["left", "right"]), account, server))
    default: .race(pick(rivals), pick(rivals))
    }
  }

  /// Any two commands in one space.
  private mutating func rivalry() -> Step {
    let (commands, space) = (
      pick([Command.ofServers, Command.ofChannels, Command.ofGroups, Command.ofRooms]),
      below(Cast.spacesPerScene)
    )
    return .race(
      .command(command(pick(commands).name, space: space)),
      .command(command(pick(commands).name, space: space)))
  }

  private func say(_ body: String, _ account: Int, _ server: Int) -> Step {
    .send(SendStep(by: account, server: server, clientId: "race", body: body, isPersisted: true))
  }

  private mutating func open(_ server: Int, _ channel: Int) -> Step {
    .openChannel(server, channel, by: nil, .public, pick(ChannelRecord.Membership.allCases), [])
  }

  private mutating func change() -> Step {
    let server = server()
    switch below(24) {
    case 0: return .createServer(server, owner: number())
    case 1: return .updateServer(server, by: actor(), name: pick(["Tower", "Spire", text()]))
    case 2: return oneIn(6) ? .removeServer(server, by: actor()) : .leave(server, number())
    case 3..<7: return .addMembers(server, by: oneIn(8) ? number() : nil, numbers(1...4))
    case 7..<10: return .kick(server, by: actor(), numbers(1...2))
    case 10: return .leave(server, number())
    case 11..<16:
      return .subscribe(server, channel: oneIn(2) ? nil : channel(), number(), oneIn(2))
    case 16..<21:
      return .openChannel(
        server, channel(), by: actor(), pick(ChannelRecord.Kind.allCases),
        pick(ChannelRecord.Membership.allCases), numbers(0...2))
    case 21: return .updateChannel(server, channel(), by: actor(), name: pick(["ropes", text()]))
    default: return .closeChannel(server, channel(), by: oneIn(4) ? number() : nil)
    }
  }

  private mutating func send(_ sent: inout [SendStep]) -> SendStep {
    if !sent.isEmpty, oneIn(5) {
      var again = pick(sent)
      if oneIn(4) { again.body += "!" }
      return again
    }
    let place = below(12)
    let (isToAccounts, isToServer) = (place < 3, place >= 7)
    let send = SendStep(
      by: actor(), server: isToServer ? server() : nil, channel: isToServer && oneIn(2) ? channel() : nil,
      group: place == 3 || place == 4 ? below(Cast.spacesPerScene) : nil,
      room: place == 5 || place == 6 ? below(Cast.spacesPerScene) : nil,
      accounts: isToAccounts ? numbers(1...3) : oneIn(3) ? named() : nil,
      clientId: oneIn(2) ? pick(["m1", "m 2", "m\"3\n", "鐘", "\u{1}", text() + "m"]) : nil,
      body: text(), attach: oneIn(3) ? json() : nil, isPersisted: !oneIn(8),
      expiry: oneIn(8) ? pick([.late, .soon, .past]) : .never)
    sent.append(send)
    return send
  }

  /// Mostly to one place, and some of them the same.
  private mutating func batch(_ sent: inout [SendStep]) -> [SendStep] {
    let first = send(&sent)
    return (0..<2 + below(4)).map { _ in
      var next = oneIn(2) ? first : send(&sent)
      if oneIn(2) {
        (next.server, next.channel, next.group, next.room) = (
          first.server, first.channel, first.group, first.room
        )
      }
      if oneIn(2) { next.clientId = oneIn(3) ? first.clientId : nil }
      if oneIn(2) { next.body = text() }
      return next
    }
  }

  private mutating func markRead() -> Step {
    switch below(8) {
    case 0: .readUpToNow(number())
    case 1: .readUpToNow(number())
    case 2: .rewind(number())
    default: .read(number(), places: (0..<1 + below(4)).map { _ in below(100) })
    }
  }

  /// Half the time somebody who owns a server and is in its channels.
  private mutating func named() -> [Int] { oneIn(2) ? [below(3)] : numbers(1...2) }

  /// The lower ones more often, so that some get about.
  mutating func number() -> Int { min(below(Cast.accountCount), below(Cast.accountCount)) }
  /// Rarely one of them twice.
  mutating func numbers(_ count: ClosedRange<Int>) -> [Int] {
    let everybody = (0..<Cast.accountCount).shuffled(using: &self)
    let chosen = Array(everybody.prefix(Int.random(in: count, using: &self)))
    return oneIn(20) ? chosen + chosen.prefix(1) : chosen
  }
  private mutating func server() -> Int { below(Cast.serverCount) }
  private mutating func channel() -> Int { pick([0, 0, 1, 1, 1, 2, 3]) }
  private mutating func actor() -> Int? { oneIn(2) ? nil : oneIn(2) ? below(3) : number() }
}
