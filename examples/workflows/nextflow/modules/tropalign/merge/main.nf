process TROPALIGN_MERGE {
    tag "${meta.id}"
    label 'process_single'

    conda "${moduleDir}/environment.yml"
    container "${workflow.containerEngine in ['singularity', 'apptainer'] && !task.ext.singularity_pull_docker_container
        ? 'https://depot.galaxyproject.org/singularity/tropalign:0.1.0'
        : 'biocontainers/tropalign:0.1.0'}"

    input:
    tuple val(meta), path(shards)
    val suffix
    val files

    output:
    tuple val(meta), path("*.${suffix}"), emit: merged
    tuple val(meta), path("*.html"), emit: html, optional: true
    tuple val(meta), path("*.svg"), emit: plot, optional: true
    tuple val(meta), path("*.table.tsv"), emit: table, optional: true
    tuple val(meta), path("*.jplace"), emit: jplace, optional: true
    tuple val(meta), path("*.taxa.tsv"), emit: taxa, optional: true
    tuple val(meta), path("*.tblout"), emit: tblout, optional: true
    tuple val(meta), path("*.domtblout"), emit: domtblout, optional: true
    tuple val(meta), path("*.pfamtblout"), emit: pfamtblout, optional: true
    tuple val(meta), path("*.sto"), emit: alignment, optional: true
    path "versions.yml", emit: versions

    when:
    task.ext.when == null || task.ext.when

    script:
    def args = task.ext.args ?: ''
    def prefix = task.ext.prefix ?: "${meta.id}"
    def output = "${prefix}.${suffix}"
    // The option for each additional file, and the file's suffix.
    def options = [
        html: ['--html', 'html'],
        plot: ['--plot', 'svg'],
        table: ['--table', 'table.tsv'],
        jplace: ['--jplace', 'jplace'],
        taxa: ['--taxa', 'taxa.tsv'],
        tblout: ['--tblout', 'tblout'],
        domtblout: ['--domtblout', 'domtblout'],
        pfamtblout: ['--pfamtblout', 'pfamtblout'],
        alignment: ['-A', 'sto'],
    ]
    def beside = files.collect { name -> "${options[name][0]} ${prefix}.${options[name][1]}" }.join(' ')
    """
    tropalign \\
        merge \\
        ${args} \\
        ${beside} \\
        --output ${output} \\
        ${shards}

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
        html: ['--html', 'html'],
        plot: ['--plot', 'svg'],
        table: ['--table', 'table.tsv'],
        jplace: ['--jplace', 'jplace'],
        taxa: ['--taxa', 'taxa.tsv'],
        tblout: ['--tblout', 'tblout'],
        domtblout: ['--domtblout', 'domtblout'],
        pfamtblout: ['--pfamtblout', 'pfamtblout'],
        alignment: ['-A', 'sto'],
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
