"""Java and Kotlin: javac, Maven, Gradle, surefire."""

from __future__ import annotations

from nmem.learn.errors.rules import rule
from nmem.learn.errors.signature import CODE, TEST, USAGE, WORLD

RULES = (
    rule("maven", WORLD, r"Could not (?:resolve|find) (?:dependencies|artifact|plugin)\w*(?: for project)? (?P<said>[\w.:-]+)",
         "no artifact {said}", "Maven cannot resolve {said}", "Could not"),
    rule("maven", USAGE, r"there is no POM in this directory", "no POM here", "There is no POM in this folder"),
    rule("maven", USAGE, r"Could not find the selected project in the reactor: (?P<said>\S+)", "no project {said}",
         "Maven knows no project {said}"),
    rule("maven", USAGE, r"Unknown lifecycle phase \"(?P<name>[^\"]+)\"", "no phase {name}", "Maven knows no phase {name}"),
    rule("gradle", USAGE, r"Task '(?P<name>[^']+)' not found in", "no task {name}", "Gradle knows no task {name}"),
    rule("gradle", WORLD, r"Could not (?:resolve|find|get) (?:all \w+ for configuration '(?P<configuration>[^']+)'|(?P<said>[\w.-]+:[\w.:-]+))",
         "cannot resolve {configuration}{said}", "Gradle cannot resolve {configuration}{said}", "Could not"),
    rule("gradle", WORLD, r"Gradle build daemon disappeared unexpectedly", "daemon disappeared",
         "The Gradle daemon disappeared"),
    rule("gradle", WORLD, r"SDK location not found", "no Android SDK", "The Android SDK is not found"),
    rule("jvm", WORLD, r"(?:Unsupported class file major version|invalid (?:source|target) release|has been compiled by a more"
         r" recent version|UnsupportedClassVersionError|Unable to locate a Java Runtime|JAVA_HOME is (?:not set|set to an))",
         "java version", "Another Java is needed"),
    rule("jvm", WORLD, r"java\.lang\.OutOfMemoryError|Java heap space", "out of memory", "Java runs out of memory"),
    rule("surefire", TEST, r"^\[ERROR\]\s+(?P<test>\w+\.\w+)(?::\d+)?(?:»|->| )", "test {test}", "test {test} fails",
         "[ERROR]"),
    rule("gradle", TEST, r"^(?P<test>\w+(?:Test|Tests|Spec|IT) > .{1,120}?)(?:\(\))? FAILED$", "test {test}",
         "test {test} fails", "FAILED"),
    rule("javac", CODE, r"(?P<file>\w+\.(?:java|kt|scala)):\[?\d+(?:[,:]\d+)?\]?:? (?:error: )?(?P<said>.{3,160})",
         "{file} {said}", "{said} ({file})", ".java:|.kt:|.scala:"),
    rule("gradle", CODE, r"Execution failed for task '(?P<task>[^']+)'", "task {task}", "Gradle task {task} fails"),
    rule("jvm", CODE, r"(?:Exception in thread \"[^\"]*\"|Caused by:) (?:[\w$]+\.)*(?P<type>[\w$]+)(?:: (?P<message>.{0,160}))?$",
         "{type} {message}", "{type}: {message}", "Exception in|Caused by"),
)  # fmt: skip
