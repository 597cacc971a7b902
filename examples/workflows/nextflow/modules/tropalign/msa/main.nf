process TROPALIGN_MSA {
    tag "${meta.id}"
    label 'process_medium'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/tropalign:0.1.0'
        : 'biocontainers/tropalign:0.1.0'}"

    input:
    tuple val(meta), path(sequences), path(guide)
    val suffix
    val files

    output:
    tuple val(meta), path("*.${suffix}"), emit: alignment
    tuple val(meta), path("*.nwk"), emit: tree, optional: true
    tuple val(meta), path("*.confidence.tsv"), emit: confidence, optional: true
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def memory = task.memory ? "--memory ${task.memory.toMega()}M" : ''
    def output = "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        tree: ['--tree-out', 'nwk'],
        confidence: ['--confidence', 'confidence.tsv'],
    ]
    def beside = files.collect { name -> "${options[name][0]} ${prefix}.${options[name][1]}" }.join(' ')
    def guided = guide ? "--tree-in ${guide}" : ''
    """
    tropalign \\
        msa \\
        ${args} \\
        --threads ${task.cpus} \\
        ${memory} \\
        ${beside} \\
        --output ${output} \\
        ${guided} \\
        ${sequences}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """

    stub:
    def prefix = task.ext.prefix ?: "${meta.id}"
    def output = "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        tree: ['--tree-out', 'nwk'],
        confidence: ['--confidence', 'confidence.tsv'],
    ]
    def stubs = files.collect { name -> "${prefix}.${options[name][1]}" }.join(' ')
    """
    touch ${output} ${stubs}

    cat <<-END_VERSIONS > versions.yml
    "${task.process}":
        tropalign: \$(tropalign --version | sed 's/tropalign //')
    END_VERSIONS
    """
}
