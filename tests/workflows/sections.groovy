// What stands in for Nextflow: Groovy code evaluated with the values that Nextflow would put there.
//
// The argument names a file of JSON, a list of jobs: {code, values} gives the text that the code makes of the values,
// {parse} gives an empty text if it is a program. Printed is the list of these texts.
import groovy.json.JsonOutput
import groovy.json.JsonSlurper
import org.codehaus.groovy.control.CompilationUnit
import org.codehaus.groovy.control.Phases

def given = new JsonSlurper().parse(new File(args[0]))
def results = given.collect { job ->
    if (job.parse) {
        def unit = new CompilationUnit()
        unit.addSource('Main', job.parse)
        unit.compile(Phases.CONVERSION) // Later ones would miss what Nextflow has: variables per section, for example.
        return ''
    }
    def values = job.values
    if (values.task?.memory) {
        def megabytes = values.task.memory
        values.task.memory = new Expando(toMega: { -> megabytes })
    }
    new GroovyShell(new Binding(values)).evaluate(job.code).toString().stripIndent()
}
println JsonOutput.toJson(results)
