// What stands in for Nextflow's engine: runs the body of a workflow with channels that are lists, a task after the other.
//
// Argument 1 names a file of JSON: processes (inputs, script and outputs by name), the workflow's body, what it takes, what it
// emits; argument 2 names the folder of the tasks. Printed are the names of the files that each channel emits.
import groovy.json.JsonOutput
import groovy.json.JsonSlurper

import java.nio.file.FileSystems
import java.nio.file.Files
import java.nio.file.Paths

class Items {
    List all

    static Items of(Object... values) { new Items(all: values.collectMany { it instanceof Range ? it.toList() : [it] }) }

    Items map(Closure change) {
        new Items(all: all.collect { it instanceof List && change.maximumNumberOfParameters > 1 ? change(*it) : change(it) })
    }

    Items combine(Items others) {
        new Items(all: all.collectMany { own -> others.all.collect { other -> own + [other] } })
    }

    Items groupTuple(Map options) {
        def groups = all.groupBy { it[0] }.findAll { key, members -> members.size() == options.size }
        new Items(all: groups.collect { key, members -> [key, members.collect { it[1] }] })
    }

    Items first() { new Items(all: all.take(1)) }

    Items mix(Items others) { new Items(all: all + others.all) }
}

class Step {
    String name
    Map parts
    File folder
    Map out = [:]

    void run(List given) {
        assert given.size() == parts.inputs.size() : "${name} takes ${parts.inputs.size()} channels"
        parts.outputs.each { out[it.emit] = new Items(all: []) }
        given[0].all.eachWithIndex { item, number -> task([item, *given.drop(1)], new File(folder, "${name}.${number}")) }
    }

    void task(List given, File work) {
        work.mkdir()
        def values = [task: [cpus: 1, process: name, ext: [args: parts.args], memory: new Expando(toMega: { -> 512 })]]
        parts.inputs.eachWithIndex { names, place ->
            def fields = names.size() > 1 ? given[place] : [given[place]]
            assert fields.size() == names.size() : "${name}: ${fields} for ${names}"
            names.eachWithIndex { input, k -> values[input.name] = input.kind == 'path' ? staged(fields[k], work) : fields[k] }
        }
        def staged = work.list() as Set
        def fill = { String code -> new GroovyShell(new Binding(values)).evaluate(code).toString().stripIndent() }
        new File(work, '.command.sh').text = fill(parts.script)
        def bash = new ProcessBuilder('bash', '-euo', 'pipefail', '.command.sh').directory(work)
        def code = bash.redirectErrorStream(true).redirectOutput(new File(work, '.command.log')).start().waitFor()
        assert code == 0 : new File(work, '.command.log').text
        parts.outputs.each { output ->
            def glob = FileSystems.default.getPathMatcher('glob:' + fill('"' + output.pattern + '"'))
            def made = work.listFiles().findAll { !(it.name in staged) && glob.matches(Paths.get(it.name)) }
            made.each { out[output.emit].all << (output.tuple ? [values.meta, it] : it) }
        }
    }

    /** What stands in a script for files: their names in the task's folder. */
    String staged(Object files, File work) {
        def all = files instanceof List ? files : [files]
        all.each { Files.copy(it.toPath(), new File(work, it.name).toPath()) }
        all*.name.join(' ')
    }
}

def given = new JsonSlurper().parse(new File(args[0]))
def binding = new Binding(channel: Items, *: given.values)
binding.setVariable('sequences', new Items(all: given.inputs.collect { [[id: it.id], new File(it.path)] }))
given.processes.each { name, parts ->
    // A closure, which a workflow can call, and which has the step's properties.
    def step = { Object... channels -> delegate.run(channels as List) }
    step.delegate = new Step(name: name, parts: parts, folder: new File(args[1]))
    step.resolveStrategy = Closure.DELEGATE_FIRST
    binding.setVariable(name, step)
}
def emitted = '[' + given.emits.collect { name, value -> "${name}: ${value}" }.join(', ') + ']'
def result = new GroovyShell(binding).evaluate(given.body + '\n' + emitted)
println JsonOutput.toJson(result.collectEntries { name, items ->
    [name, items.all.collect { (it instanceof List ? it[1] : it).path }]
})
