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

func module(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = [])
  -> Target
{
  .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: rules)
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
    .systemLibrary(name: "CMicroHTTPD"),
    .systemLibrary(name: "CCrypto"),
    .systemLibrary(name: "CCurl"),

    module("BelfryBytes"),
    module("BelfrySystem", ["CLinux"]),
    module("BelfryModel", ["BelfryBytes"]),
    module("BelfryLoop", ["CLinux", "BelfrySystem"]),
    module("BelfryRedis", ["CHiredis", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module("BelfryHTTP", ["CMicroHTTPD", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module(
      "BelfryStore", ["BelfryModel", "BelfryLoop", "BelfryRedis", "BelfryBytes"],
      resources: [.embedInCode("Functions")]),
    module("BelfryFeed", ["BelfryModel", "BelfryStore", "BelfryLoop"]),
    module(
      "BelfryLive",
      ["BelfryFeed", "BelfryModel", "BelfryStore", "BelfryLoop", "BelfrySystem", "BelfryBytes"]),
    module(
      "BelfryServer",
      [
        "BelfryModel", "BelfryRedis", "BelfryStore", "BelfryFeed", "BelfryLive", "BelfryHTTP", "BelfryLoop",
        "BelfrySystem", "BelfryBytes", "CCrypto", "CLinux",
      ],
      resources: [.embedInCode("Embedded/redis.conf")]),
    module("BelfryClient", ["BelfryModel", "BelfrySystem", "CCurl"]),
    .executableTarget(
      name: "belfry",
      dependencies: ["BelfryServer", "BelfryClient", "BelfryModel", "BelfryLoop", "BelfryBytes"],
      swiftSettings: rules),

    // Real redis-servers for the tests of every layer.
    .target(
      name: "RedisFixture", dependencies: ["CHiredis"], path: "Tests/RedisFixture", swiftSettings: rules),
    // Values of the model: literals, and random ones that a seed repeats.
    .target(
      name: "ModelSamples", dependencies: ["BelfryModel"], path: "Tests/ModelSamples", swiftSettings: rules),

    tests("BelfryModelTests", ["BelfryModel", "BelfryBytes", "ModelSamples"]),
    tests(
      "StorePropertyTests",
      ["BelfryModel", "BelfryStore", "BelfryRedis", "BelfryLoop", "ModelSamples", "RedisFixture"]),
    tests(
      "FuzzTests",
      [
        "BelfryModel", "BelfryRedis", "BelfryStore", "BelfryHTTP", "BelfryServer", "BelfryClient",
        "BelfryBytes",
        "ModelSamples",
      ]),
    tests("BelfryLoopTests", ["BelfryLoop", "BelfrySystem"]),
    tests("BelfryRedisTests", ["BelfryRedis", "BelfryLoop", "BelfrySystem", "RedisFixture"]),
    // They start the `belfry` executable itself, so it is built with them.
    tests("EndToEndTests", ["belfry", "BelfryServer", "BelfryModel", "BelfryBytes", "RedisFixture"]),
    // Counts calls that cost: allocations, writes.
    .target(name: "CallCounts", path: "Tests/CallCounts"),
    tests(
      "BelfryLiveTests",
      [
        "BelfryLive", "BelfryFeed", "BelfryServer", "BelfryStore", "BelfryModel", "BelfryLoop", "CallCounts",
        "ModelSamples",
      ]),
    tests("BelfryFeedTests", ["BelfryFeed", "BelfryStore", "BelfryModel", "ModelSamples"]),
    tests("BelfryHTTPTests", ["BelfryHTTP", "BelfryLoop", "BelfryBytes", "CallCounts"]),
    tests(
      "BelfryStoreTests",
      ["BelfryStore", "BelfryModel", "BelfryRedis", "BelfryLoop", "RedisFixture", "ModelSamples"]),
    tests(
      "BelfryServerTests",
      [
        "BelfryServer", "BelfryHTTP", "BelfryStore", "BelfryRedis", "BelfryLoop", "BelfrySystem",
        "BelfryModel",
        "BelfryBytes", "CallCounts", "RedisFixture",
      ]),
    // What the client and the command line are tested against, where a real broker cannot be made to misbehave.
    .target(name: "ScriptedServer", path: "Tests/ScriptedServer", swiftSettings: rules),
    tests("BelfryClientTests", ["BelfryClient", "BelfrySystem", "ScriptedServer"]),
    tests(
      "BelfryCommandTests", ["belfry", "BelfryClient", "BelfryServer", "BelfryBytes", "ScriptedServer"]),
  ]
)
