"""Compiles Swift against the modules that `swift build` has left in .build/debug."""
import glob
import json
import os
import re
import subprocess
import sys
import tempfile


class SwiftError(Exception):
    pass


def objects_of(name, path, build_folder):
    """A module's object files, but for those of sources that are no more, which a build leaves lying."""
    folder = os.path.join(build_folder, f"{name}.build")
    sources = {os.path.basename(path) for path in glob.glob(f"{path}/**/*", recursive=True)}
    sources |= {os.path.basename(path) for path in glob.glob(f"{folder}/DerivedSources/**/*", recursive=True)}
    return [each for each in glob.glob(f"{folder}/*.o") if os.path.basename(each).removesuffix(".o") in sources]


def closure(root, product):
    """The targets that a product needs, C modules included, by their place below the root."""
    # A folder of its own: not to wait for a build that goes on, and to leave nothing in a user's build as root.
    with tempfile.TemporaryDirectory() as scratch:
        text = subprocess.run(
            ["swift", "package", "--package-path", root, "--scratch-path", scratch, "describe", "--type", "json"],
            check=True, capture_output=True, text=True).stdout
    targets = {target["name"]: target for target in json.loads(text)["targets"]}
    needed, open_names = {}, [product]
    while open_names:
        name = open_names.pop()
        if name not in needed:
            needed[name] = os.path.join(root, targets[name]["path"])
            open_names += targets[name].get("target_dependencies", [])
    return needed


def build(root, build_folder, source, output):
    """Makes a program of one source."""
    needed = closure(root, "BelfryClient")
    objects, libraries = [], []
    for name, path in needed.items():
        module_map = os.path.join(path, "module.modulemap")
        if os.path.exists(module_map):
            with open(module_map, encoding="utf-8") as file:
                libraries += [f"-l{one}" for one in re.findall(r'link "([^"]+)"', file.read())]
        else:
            objects += objects_of(name, path, build_folder)
    run_compiler(needed, build_folder, [source, *objects, *libraries, "-o", output])


def compile_source(root, build_folder, source, output):
    """Makes an object file of one source: it is compiled, and nothing is linked."""
    run_compiler(closure(root, "BelfryClient"), build_folder, ["-c", source, "-o", output])


def run_compiler(needed, build_folder, arguments):
    maps = [
        argument for path in needed.values() if os.path.exists(os.path.join(path, "module.modulemap"))
        for argument in ("-I", path)]
    compiled = subprocess.run(
        ["swiftc", "-swift-version", "6", "-parse-as-library", "-suppress-warnings",
         "-I", os.path.join(build_folder, "Modules"), *maps, *arguments],
        capture_output=True, text=True)
    if compiled.returncode:
        raise SwiftError(compiled.stderr.strip())


def main(source, output):
    """Makes one program, as `swift build` would have put it there."""
    root = os.environ["BELFRY_ROOT"]
    os.makedirs(os.path.dirname(output), exist_ok=True)
    try:
        build(root, os.path.join(root, ".build", "debug"), source, output)
    except SwiftError as error:
        sys.exit(str(error))


def page_program(blocks, surroundings):
    """One program of all Swift blocks of a page, in their order: imports first, then the rest as the body of a function.
    Lines keep the page's numbers."""
    return "\n".join([
        *imports(blocks), surroundings, "@main struct Page {", "static func main() async throws {",
        *map(body, blocks), "}", "}", ""])


def examples_program(blocks, surroundings):
    """One source of examples that know nothing of each other: each is the body of a function of its own."""
    functions = [
        f"func example{number}() async throws {{\n{body(block)}\n}}" for number, block in enumerate(blocks, 1)]
    return "\n".join([*imports(blocks), surroundings, *functions, ""])


def imports(blocks):
    lines = (line for block in blocks for line in block.text.split("\n"))
    return list(dict.fromkeys(["import BelfryClient", *(line for line in lines if line.startswith("import "))]))


def body(block):
    """A block without its imports, so placed that errors name its lines."""
    lines = ["" if line.startswith("import ") else line for line in block.text.split("\n")]
    return f'#sourceLocation(file: "{block.page}", line: {block.line})\n' + "\n".join(lines) + "\n#sourceLocation()"


if __name__ == "__main__":
    main(*sys.argv[1:])
