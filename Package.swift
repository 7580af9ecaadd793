// swift-tools-version: 6.2
import PackageDescription

// Every target is held to the same rules; a warning anywhere stops the build.
let rules: [SwiftSetting] = [
  .swiftLanguageMode(.v6),
  .strictMemorySafety(),
  .treatAllWarnings(as: .error),
  .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
  .enableUpcomingFeature("ExistentialAny"),
  .enableUpcomingFeature("InternalImportsByDefault"),
]

// scripts/test sets it: the modules in which tests spend their time are then optimised in the debug build too, and keep all
// assertions. Optimising the others costs more time than the tests gain. Only this repository's own builds set it, since SwiftPM
// takes no package with such flags as a dependency.
let optimizesDebugBuild = Context.environment["BELFRY_DEBUG_BUILD"] == "optimized"
let optimizedInDebugBuilds: Set = [
  "BelfryBytes", "BelfrySystem", "BelfryModel", "BelfryLoop", "BelfryRedis", "BelfryHTTP",
]

func module(
  _ name: String, _ dependencies: [Target.Dependency] = [], exclude: [String] = [], resources: [Resource] = []
) -> Target {
  let isOptimized = optimizesDebugBuild && optimizedInDebugBuilds.contains(name)
  // A module at once, as in a release: that takes a tenth less of the processor than file by file.
  let flags = ["-O", "-wmo", "-num-threads", "2", "-assert-config", "Debug"]
  let optimization: [SwiftSetting] =
    isOptimized ? [.unsafeFlags(flags, .when(configuration: .debug))] : []
  return .target(
    name: name, dependencies: dependencies, exclude: exclude, resources: resources,
    swiftSettings: rules + optimization)
}

func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
  .testTarget(name: name, dependencies: dependencies, swiftSettings: rules)
}

let package = Package(
  name: "belfry",
  products: [
    .executable(name: "belfry", targets: ["belfry"]),
    .library(name: "BelfryClient", targets: ["BelfryClient"]),
  ],
  // Read from the bottom up, this is the architecture: each layer names only the ones below it.
  targets: [
    .systemLibrary(name: "CLinux"),
    .systemLibrary(name: "CHiredis"),
    .systemLibrary(name: "CCrypto"),
    .systemLibrary(name: "CTLS"),
    .systemLibrary(name: "CCurl"),
    // The functions in Redis, whose text is in BelfryStore/Functions.
    .target(name: "CFunctions"),

    module("BelfryBytes", ["CCrypto"]),
    module("BelfrySystem", ["CLinux"]),
    module("BelfryModel", ["BelfryBytes"]),
    module("BelfryInterface", ["BelfryModel", "BelfryBytes"]),
    module("BelfryLoop", ["CLinux", "BelfrySystem"]),
    module("BelfryTransport", ["CTLS"]),
    module("BelfryRedis", ["CHiredis", "BelfryTransport", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module("BelfryHTTP", ["CLinux", "BelfryTransport", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module("BelfryOutbound", ["CCurl", "BelfryLoop"]),
    module(
      "BelfryStore", ["BelfryModel", "BelfryLoop", "BelfryRedis", "BelfryBytes", "CCrypto", "CFunctions"],
      exclude: ["Functions"]),
    module("BelfryFeed", ["BelfryModel", "BelfryStore", "BelfryLoop"]),
    module(
      "BelfryLive",
      ["BelfryFeed", "BelfryModel", "BelfryStore", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module(
      "BelfryHooks",
      [
        "BelfryOutbound", "BelfryFeed", "BelfryModel", "BelfryStore", "BelfryLoop", "BelfrySystem",
        "BelfryBytes",
      ]),
    module(
      "BelfryServer",
      [
        "BelfryModel", "BelfryInterface", "BelfryRedis", "BelfryStore", "BelfryFeed", "BelfryLive",
        "BelfryHTTP", "BelfryOutbound", "BelfryHooks", "BelfryTransport",
        "BelfryLoop", "BelfrySystem", "BelfryBytes", "CCrypto", "CLinux",
      ],
      resources: [.embedInCode("Embedded/redis.conf")]),
    module("BelfryClient", ["BelfryModel", "BelfryInterface", "BelfrySystem", "BelfryBytes", "CCurl"]),
    .executableTarget(
      name: "belfry",
      dependencies: [
        "BelfryServer", "BelfryClient", "BelfryInterface", "BelfryModel", "BelfryLoop", "BelfryBytes",
      ],
      swiftSettings: rules),

    // What the tests of all layers stand on: real redis-servers, servers that do what a script says, raw connections,
    // loops on a thread of their own, clocks that step, random numbers that a seed repeats.
    .target(
      name: "TestKit",
      dependencies: ["CHiredis", "BelfryLoop", "BelfryTransport", "BelfryBytes", "TestCertificates"],
      path: "Tests/TestKit", swiftSettings: rules),
    // A thread's own clocks and random numbers, in place of the system's.
    .target(name: "SimulatedMachine", path: "Tests/SimulatedMachine"),
    // Many machines on one thread, whose order, time and chance follow from a seed.
    .target(
      name: "SimulationKit",
      dependencies: ["SimulatedMachine", "SimulatedRedis", "BelfryLoop", "BelfrySystem", "TestKit"],
      path: "Tests/SimulationKit", swiftSettings: rules),
    // Clients with streams, and what they were shown.
    .target(
      name: "StreamClients", dependencies: ["BelfryLive", "BelfryModel", "BelfryServer"],
      path: "Tests/StreamClients", swiftSettings: rules),
    // Lua 5.1, and an in-memory Redis that runs Belfry's functions in it.
    .target(name: "CLua", path: "Tests/CLua", linkerSettings: [.linkedLibrary("lua5.1")]),
    .target(
      name: "SimulatedRedis", dependencies: ["CLua", "BelfryBytes"], path: "Tests/SimulatedRedis",
      swiftSettings: rules),
    // Certificates for tests, and clients of TLS that do what no honest one does.
    .target(
      name: "TestCertificates", path: "Tests/TestCertificates",
      linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
    // Values of the model: literals, and random ones that a seed repeats.
    .target(
      name: "ModelSamples",
      dependencies: [
        "BelfryModel", "BelfryStore", "BelfryRedis", "BelfryInterface", "BelfryBytes", "TestKit",
      ],
      path: "Tests/ModelSamples", swiftSettings: rules),

    tests("BelfryModelTests", ["BelfryModel", "BelfryBytes", "ModelSamples", "TestKit"]),
    tests(
      "StorePropertyTests",
      [
        "BelfryModel", "BelfryFeed", "BelfryStore", "BelfryRedis", "BelfryLoop", "ModelSamples",
        "SimulatedRedis", "TestKit",
      ]),
    tests("SimulatedRedisTests", ["SimulatedRedis", "BelfryBytes", "CFunctions", "TestKit"]),
    tests(
      "FuzzTests",
      [
        "BelfryModel", "BelfryInterface", "BelfryRedis", "BelfryStore", "BelfryHTTP", "BelfryHooks",
        "BelfryServer", "BelfryClient", "BelfryTransport", "BelfryBytes", "ModelSamples", "TestKit",
      ]),
    tests("BelfryLoopTests", ["BelfryLoop", "BelfrySystem", "TestKit"]),
    tests(
      "SimulationTests",
      [
        "SimulationKit", "SimulatedRedis", "StreamClients", "BelfryLive", "BelfryFeed", "BelfryStore",
        "BelfryModel", "BelfryRedis", "BelfryLoop", "BelfrySystem", "ModelSamples", "TestKit",
      ]),
    tests("BelfryRedisTests", ["BelfryRedis", "BelfryTransport", "BelfryLoop", "BelfrySystem", "TestKit"]),
    // They start the `belfry` executable itself, so it is built with them.
    tests(
      "EndToEndTests",
      ["belfry", "BelfryServer", "BelfryTransport", "BelfryModel", "BelfryBytes", "TestKit"]),
    // Counts calls that cost: allocations, writes.
    .target(name: "CallCounts", path: "Tests/CallCounts"),
    tests(
      "BelfryLiveTests",
      [
        "BelfryLive", "BelfryFeed", "BelfryServer", "BelfryStore", "BelfryModel", "BelfryLoop", "CallCounts",
        "ModelSamples", "SimulationKit", "StreamClients", "TestKit",
      ]),
    tests(
      "BelfryFeedTests",
      ["BelfryFeed", "BelfryStore", "BelfryRedis", "BelfryModel", "BelfryLoop", "ModelSamples", "TestKit"]),
    tests("BelfryOutboundTests", ["BelfryOutbound", "BelfryLoop", "TestKit"]),
    tests(
      "BelfryHooksTests",
      ["BelfryHooks", "BelfryOutbound", "BelfryStore", "BelfryModel", "BelfryLoop", "BelfryBytes", "TestKit"]),
    tests(
      "BelfryHTTPTests",
      [
        "BelfryHTTP", "BelfryTransport", "BelfryLoop", "BelfryBytes", "CallCounts", "TestCertificates",
        "TestKit",
      ]),
    tests(
      "BelfryStoreTests",
      ["BelfryStore", "BelfryModel", "BelfryRedis", "BelfryLoop", "TestKit", "ModelSamples"]),
    tests(
      "BelfryServerTests",
      [
        "BelfryServer", "BelfryInterface", "BelfryHTTP", "BelfryFeed", "BelfryLive", "BelfryStore",
        "BelfryRedis", "BelfryOutbound", "BelfryHooks",
        "BelfryLoop", "BelfrySystem", "BelfryModel", "BelfryBytes", "CallCounts", "ModelSamples", "TestKit",
      ]),
    tests(
      "BelfryClientTests", ["BelfryClient", "BelfryInterface", "BelfryBytes", "BelfrySystem", "TestKit"]),
    tests(
      "BelfryCommandTests",
      ["belfry", "BelfryClient", "BelfryInterface", "BelfryServer", "BelfryBytes", "TestKit"]),
  ]
)
